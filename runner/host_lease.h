// A host for the time of one command: acquired from a provider, released whatever happens.
#pragma once

#include <memory>
#include <string>

#include "hosts/providers/provider.h"

namespace numabench {

class HostLease {
 public:
  /// Throws what the provider throws.
  explicit HostLease(const std::string& provider)
      : provider_(make_host_provider(provider)), host_(provider_->acquire()) {}
  ~HostLease() { provider_->release(host_); }
  HostLease(const HostLease&) = delete;
  HostLease& operator=(const HostLease&) = delete;

  const Host& host() const { return host_; }

 private:
  std::unique_ptr<HostProvider> provider_;
  Host host_;
};

}  // namespace numabench
