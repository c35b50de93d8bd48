// The user's own pgbench scripts on pgbench's four standard tables.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "hosts/error.h"
#include "workloads/accounts.h"
#include "workloads/parameters.h"
#include "workloads/registry.h"
#include "workloads/script_list.h"
#include "workloads/scripts/scripts.h"

namespace numabench {
namespace {

// Rows of pgbench -i at scale 1, and how many of them a page holds: their fillers are null, so a
// row is its header and two or three int4.
constexpr std::uint64_t kAccountsPerBranch = 100'000;
constexpr std::uint64_t kTellersPerBranch = 10;
constexpr std::uint64_t kBranchesPerPage = 226;
constexpr std::uint64_t kTellersPerPage = 185;

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

std::string read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("there is no script to read in '{}'", path),
                "name a file with a pgbench script");
  }
  return text.str();
}

constexpr const char* kBranchesTable =
    "CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) "
    "WITH (fillfactor = 100)";
constexpr const char* kTellersTable =
    "CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) "
    "WITH (fillfactor = 100)";
constexpr const char* kHistoryTable =
    "CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, "
    "filler char(22))";

/// The tables beside pgbench_accounts, as pgbench -i makes them.
std::vector<std::string> further_tables(std::uint64_t scale) {
  return {
      kBranchesTable,
      fmt::format("INSERT INTO pgbench_branches (bid, bbalance) "
                  "SELECT bid, 0 FROM generate_series(1, {}) AS bid",
                  scale),
      "ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid)",
      kTellersTable,
      fmt::format("INSERT INTO pgbench_tellers (tid, bid, tbalance) "
                  "SELECT tid, (tid - 1) / {0} + 1, 0 FROM generate_series(1, {1}) AS tid",
                  kTellersPerBranch, kTellersPerBranch * scale),
      "ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid)",
      kHistoryTable,
  };
}

class ScriptWorkload : public Workload {
 public:
  explicit ScriptWorkload(const Parameters& parameters)
      : scripts_(parse_script_list(parameters.text("scripts"))),
        writes_(parameters.boolean("writes")) {}

  std::string_view name() const override { return "script"; }
  bool has_streams() const override { return false; }

  Dataset dataset(const WorkloadSize& size) const override {
    const std::uint64_t branches = scale(size);
    Dataset dataset =
        Accounts(divide_up(branches * kAccountsPerBranch, Accounts::kRowsPerHeapPage)).dataset();
    dataset.add("pgbench_branches", Relation::Kind::kHeap, divide_up(branches, kBranchesPerPage));
    dataset.add("pgbench_tellers", Relation::Kind::kHeap,
                divide_up(branches * kTellersPerBranch, kTellersPerPage));
    return dataset;
  }

  std::vector<Role> roles(int clients) const override {
    return {{.name = "clients", .kind = Role::Kind::kPoint, .count = clients}};
  }

  std::unique_ptr<AccessStream> open_stream(const Role&, int, const WorkloadSize&,
                                            std::uint64_t) const override {
    refuse_streams();
  }

  std::vector<PageNumber> fill_pages(const WorkloadSize&, std::uint64_t) const override {
    refuse_streams();
  }

  std::vector<PageNumber> hot_pages(const WorkloadSize&, std::uint64_t) const override {
    return {};
  }

  /// pgbench's tables at the least scale that makes pgbench_accounts and its index ratio × pool.
  SqlWorkload sql(const WorkloadSize& size, int clients) const override {
    const std::uint64_t rows = scale(size) * kAccountsPerBranch;
    SqlWorkload sql;
    sql.tables = {{.name = "pgbench_accounts", .rows = rows}};
    sql.setup = further_tables(scale(size));
    sql.working_set = {"pgbench_accounts", "pgbench_branches", "pgbench_tellers"};
    sql.writes = writes_;
    SqlRole role;
    role.name = "clients";
    role.clients = clients;
    role.scripts = read_scripts();
    role.variables = {{"scale", std::to_string(scale(size))},
                      {"rows", std::to_string(rows)},
                      {"default_seed", kDefaultSeed}};
    // Data that several runs share must stay as they are.
    if (!writes_) role.settings = {{"default_transaction_read_only", "on"}};
    sql.roles = {std::move(role)};
    return sql;
  }

  std::string fingerprint() const override {
    std::string contents;
    for (const ListedScript& script : scripts_) {
      const std::string text = read_script(script.path);
      contents += fmt::format("{} bytes, weight {}\n{}", text.size(), script.weight, text);
    }
    return contents;
  }

 private:
  static std::uint64_t scale(const WorkloadSize& size) {
    return divide_up(Accounts::of_size(size, RatioOf::kWorkingSet).rows(), kAccountsPerBranch);
  }

  std::vector<SqlScript> read_scripts() const {
    if (scripts_.empty()) {
      throw Error(ErrorKind::kUsage, "workload 'script' has no script", "name one with `scripts`");
    }
    std::vector<SqlScript> scripts;
    for (const ListedScript& script : scripts_) {
      scripts.push_back({.name = std::filesystem::path(script.path).filename().string(),
                         .text = read_script(script.path),
                         .weight = script.weight});
    }
    return scripts;
  }

  [[noreturn]] static void refuse_streams() {
    throw Error(ErrorKind::kUsage, "workload 'script' has no page accesses that are known",
                "use it with the PostgreSQL engine");
  }

  std::vector<ListedScript> scripts_;
  bool writes_;
};

std::vector<ParameterSpec> script_parameters() {
  using Type = ParameterSpec::Type;
  return {
      {.name = "scripts",
       .type = Type::kText,
       .default_value = "",
       .description = "pgbench scripts: PATH or PATH@WEIGHT, separated by commas",
       .is_path = true},
      {.name = "writes",
       .type = Type::kBoolean,
       .default_value = "true",
       .description = "each run gets its own copy of the data; false: the scripts only read"},
  };
}

}  // namespace

WorkloadEntry script_entry() {
  return {"script", script_parameters(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            return std::make_unique<ScriptWorkload>(parameters);
          }};
}

}  // namespace numabench
