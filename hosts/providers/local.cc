#include "hosts/providers/providers.h"

namespace numabench {
namespace {

/// This machine: nothing to start and nothing to give back.
class LocalProvider : public HostProvider {
 public:
  std::string_view name() const override { return "local"; }
  Host acquire() override {
    return {std::string(name()), Topology::of_this_host(), take_snapshot()};
  }
  void release(const Host&) override {}
};

}  // namespace

std::unique_ptr<HostProvider> make_local_provider() { return std::make_unique<LocalProvider>(); }

}  // namespace numabench
