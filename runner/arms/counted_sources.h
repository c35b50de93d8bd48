// The C sources of counted/, embedded by CMake.
#pragma once

#include <string_view>

namespace numabench {

extern const std::string_view kFreelistCounted;
extern const std::string_view kNumabenchClock;
extern const std::string_view kSweepLayout;

}  // namespace numabench
