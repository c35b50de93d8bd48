// Where hosts come from. Today: `local`, this machine. A later provider (ssh, ec2, slurm) is one
// .cc and one line in registry.cc; it acquires a host and, whatever happens, releases it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/snapshot.h"
#include "hosts/topology.h"

namespace numabench {

struct Host {
  std::string provider;
  Topology topology;
  HostSnapshot snapshot;
};

class HostProvider {
 public:
  virtual ~HostProvider() = default;
  virtual std::string_view name() const = 0;
  /// Throws Error(kPreflight) when no host can be had; never falls through to another provider.
  virtual Host acquire() = 0;
  /// Gives back what acquire() took; called exactly once per acquired host, also after errors.
  virtual void release(const Host& host) = 0;
};

/// Throws Error(kUsage) naming the known providers.
std::unique_ptr<HostProvider> make_host_provider(const std::string& name);
std::vector<std::string> host_provider_names();

}  // namespace numabench
