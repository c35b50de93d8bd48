// Where the tests find their tree and the program that they test.
#pragma once

#include <string>

namespace numabench {

/// The top folder of the tree whose tests these are, absolute.
std::string source_dir();

/// The program that was built beside the tests, absolute.
std::string program_path();

}  // namespace numabench
