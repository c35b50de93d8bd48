// The constructors that registry.cc lists; each is defined in the .cc of its name.
#pragma once

#include <memory>

#include "hosts/providers/provider.h"

namespace numabench {

std::unique_ptr<HostProvider> make_local_provider();

}  // namespace numabench
