#include "workloads/scripts/scripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "hosts/error.h"
#include "workloads/scripts/embedded.h"

namespace numabench {
namespace {

constexpr std::string_view kTable = "table_1";

/// What follows the comment on top.
std::string without_comment(const std::string& text) {
  std::size_t begin = 0;
  while (text.compare(begin, 2, "--") == 0) begin = text.find('\n', begin) + 1;
  return text.substr(begin);
}

std::string with_table(std::string text, const std::string& table) {
  for (std::size_t at = text.find(kTable); at != std::string::npos;
       at = text.find(kTable, at + table.size())) {
    text.replace(at, kTable.size(), table);
  }
  return text;
}

}  // namespace

SqlScript pgbench_script(const std::string& name) {
  const auto& scripts = embedded_scripts();
  const auto found = std::find_if(scripts.begin(), scripts.end(),
                                  [&](const EmbeddedScript& known) { return known.name == name; });
  if (found == scripts.end()) throw Error(ErrorKind::kInternal, "no pgbench script '" + name + "'");
  return {.name = name + ".pgb", .text = std::string(found->text)};
}

SqlScript pgbench_script_for(const std::string& name, const std::vector<std::string>& tables) {
  SqlScript script = pgbench_script(name);
  const std::string body = without_comment(script.text);
  if (tables.size() == 1) {
    script.text = with_table(body, tables.front());
    return script;
  }
  script.text = fmt::format("\\set table :client_id % {}\n", tables.size());
  for (std::size_t i = 0; i < tables.size(); i++) {
    script.text += fmt::format("{} :table = {}\n{}", i == 0 ? "\\if" : "\\elif", i,
                               with_table(body, tables[i]));
  }
  script.text += "\\endif\n";
  return script;
}

}  // namespace numabench
