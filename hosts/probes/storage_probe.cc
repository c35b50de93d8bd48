#include "hosts/probes/storage_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hosts/error.h"
#include "hosts/process.h"

namespace numabench {
namespace {

// Removed however the probe ends: fio that is killed at the timeout leaves its file.
class ProbeFile {
 public:
  explicit ProbeFile(const std::string& directory)
      : path_(fmt::format("{}/numabench-probe-{}", directory, ::getpid())) {}
  ~ProbeFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

StorageProbe parse_fio(const std::string& json, const std::string& directory) {
  constexpr double kNsInUs = 1000;
  try {
    // Warnings may stand before the object.
    const auto document = nlohmann::json::parse(json.substr(std::min(json.find('{'), json.size())));
    const auto& read = document.at("jobs").at(0).at("read");
    const auto& latency = read.at("clat_ns");
    return {directory, read.at("iops"), latency.at("mean").get<double>() / kNsInUs,
            latency.at("percentile").at("99.000000").get<double>() / kNsInUs};
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kRun, fmt::format("fio's report is not understood: {}", error.what()),
                "fio 3 writes it");
  }
}

StorageProbe probe_storage(const std::string& directory, double seconds, std::uint64_t file_bytes) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored)) {
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is no directory", directory),
                "name a folder on the filesystem to be measured; devices are never opened");
  }
  CommandOptions options;
  const auto runtime = std::chrono::milliseconds(std::max(1L, std::lround(1000 * seconds)));
  options.timeout = std::chrono::minutes(2) + runtime;
  const ProbeFile file(directory);
  CommandResult result;
  try {
    result = run_command({"fio", "--name=numabench-probe", "--filename=" + file.path(),
                          fmt::format("--size={}", file_bytes), "--rw=randread", "--bs=8k",
                          "--direct=1", "--ioengine=libaio", "--iodepth=32", "--time_based",
                          fmt::format("--runtime={}ms", runtime.count()), "--output-format=json"},
                         options);
  } catch (const Error& error) {
    throw Error(ErrorKind::kPreflight, "storage is measured by fio: " + error.problem(),
                "install fio");
  }
  if (!result.ok()) {
    throw Error(ErrorKind::kRun, fmt::format("fio failed in '{}': {}", directory, result.err),
                "a filesystem without O_DIRECT cannot be measured");
  }
  return parse_fio(result.out, directory);
}

}  // namespace numabench
