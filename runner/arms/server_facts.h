// What an installed server says of itself: --version and pg_config.
#pragma once

#include <string>

namespace numabench {

class PgConfig {
 public:
  /// The pg_config of `bindir`; whether it is there shows in value().
  PgConfig(std::string bindir, std::string library_directory);
  /// Of an option such as "--configure"; empty when there is no pg_config or it does not know.
  std::string value(const std::string& option) const;

 private:
  std::string bindir_;
  std::string library_directory_;
};

/// "PostgreSQL 15.18 (Debian 15.18-0+deb12u1)" of `postgres --version`. Throws Error(kRun) when
/// the binary cannot be run.
std::string server_version(const std::string& postgres);

/// 150018 of "PostgreSQL 15.18 …", 200000 of "PostgreSQL 20devel"; 0 when it has no number.
int version_number(const std::string& version);

}  // namespace numabench
