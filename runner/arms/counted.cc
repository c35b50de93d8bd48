#include "runner/arms/counted.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "hosts/error.h"
#include "runner/arms/binary.h"
#include "runner/arms/counted_sources.h"
#include "runner/arms/server_facts.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

struct Method {
  const char* name;
  const char* macro;
};

// The first counts also where a batch is claimed at once; the second fits any signature.
constexpr Method kMethods[] = {{"ClockSweepTick", "NUMABENCH_METHOD_TICK"},
                               {"nextVictimBuffer", "NUMABENCH_METHOD_HAND"}};

// Puts our freelist.c in place of the arm's and, when it goes, the arm's back.
class InjectedSource {
 public:
  InjectedSource(const std::string& folder, const std::string& macro)
      : original_(folder + "/freelist.c"),
        moved_(folder + "/freelist_arm.c"),
        layout_(folder + "/sweep_layout.h") {
    fs::rename(original_, moved_);
    std::ofstream(original_) << "#define " << macro << "\n" << kFreelistCounted;
    std::ofstream(layout_) << kSweepLayout;
    // make compares times: ours must be newer than the object of the arm's.
    fs::last_write_time(original_, fs::file_time_type::clock::now());
  }
  InjectedSource(const InjectedSource&) = delete;
  InjectedSource& operator=(const InjectedSource&) = delete;
  ~InjectedSource() {
    std::error_code ignored;
    fs::rename(moved_, original_, ignored);
    fs::remove(layout_, ignored);
  }

 private:
  std::string original_;
  std::string moved_;
  std::string layout_;
};

void install_beside(const std::string& built, const std::string& target) {
  fs::copy_file(built, target, fs::copy_options::overwrite_existing);
  fs::permissions(target, fs::perms(0755));
}

}  // namespace

CountedServer build_counted_server(const ArmFolders& folders, const BuildSystem& system,
                                   const BuildSteps& steps) {
  const std::string folder = folders.source() + "/src/backend/storage/buffer";
  if (!fs::exists(folder + "/freelist.c")) {
    return {"", "the tree has no src/backend/storage/buffer/freelist.c", ""};
  }
  const std::string plain = folders.bindir() + "/postgres";
  const std::string counted = plain + "-counted";
  std::string reason;
  for (const Method& method : kMethods) {
    const std::uintmax_t offset = fs::file_size(steps.log_path());
    const InjectedSource injected(folder, method.macro);
    if (!system.relink_server(steps)) {
      if (reason.empty()) reason = first_error(steps.log_path(), offset);
      continue;
    }
    install_beside(folders.build() + "/src/backend/postgres", counted);
    if (read_binary(counted).build_id != read_binary(plain).build_id) {
      return {counted, "", method.name};
    }
    fs::remove(counted);
    return {"", "the server did not change when counters were compiled into it", ""};
  }
  return {"", fmt::format("counters cannot be compiled into its freelist.c: {}", reason), ""};
}

ClockFunction build_clock_function(const std::string& bindir, const std::string& library_directory,
                                   const std::string& directory, int version_num,
                                   const BuildSteps& steps) {
  const PgConfig pg_config(bindir, library_directory);
  const std::string headers = pg_config.value("--includedir-server");
  if (!fs::exists(headers + "/storage/buf_internals.h")) {
    return {"", fmt::format("the server's headers are not installed; install "
                            "postgresql-server-dev-{} or the like",
                            version_num / 10000)};
  }
  fs::create_directories(directory);
  const std::string source = directory + "/numabench_clock.c";
  std::ofstream(source) << kNumabenchClock;
  const std::uintmax_t offset = fs::exists(steps.log_path()) ? fs::file_size(steps.log_path()) : 0;
  if (!steps.run("compiling the clock function",
                 {"gcc", "-O2", "-fPIC", "-shared", "-I" + headers, "-D_GNU_SOURCE", "-o",
                  "numabench_clock.so", source},
                 directory)) {
    return {"", "the clock function cannot be compiled with the server's headers: " +
                    first_error(steps.log_path(), offset)};
  }
  return {directory, ""};
}

}  // namespace numabench
