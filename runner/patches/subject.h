// "[PATCH v3 2/7] Add a bit" and "v3-0002-Add-a-bit.patch": what names and numbers patches.
#pragma once

#include <string>
#include <string_view>

namespace numabench {

/// 2 of "[PATCH v3 2/7] …"; 0 of a cover letter or when there is none.
int number_of_subject(std::string_view subject);

/// 2 of "v3-0002-Add-a-bit.patch" and "0002-Add-a-bit.patch"; 0 when there is none.
int number_of_file_name(std::string_view name);

/// "0002-Add-a-bit.patch" of "[PATCH v3 2/7] Add a bit".
std::string file_name_of_subject(std::string_view subject);

}  // namespace numabench
