#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hosts/error.h"
#include "hosts/providers/providers.h"
#include "hosts/spelling.h"

namespace numabench {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<HostProvider> (*make)();
};

// One line a provider.
constexpr std::array kProviders{
    Entry{"local", make_local_provider},
};

}  // namespace

std::unique_ptr<HostProvider> make_host_provider(const std::string& name) {
  const auto entry = std::find_if(kProviders.begin(), kProviders.end(),
                                  [&](const Entry& other) { return other.name == name; });
  if (entry == kProviders.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("there is no host provider '{}'", name),
                suggest(name, host_provider_names()));
  }
  return entry->make();
}

std::vector<std::string> host_provider_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kProviders) names.emplace_back(entry.name);
  return names;
}

}  // namespace numabench
