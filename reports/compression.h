// Compression of artifacts, in the convention of SQLite's sqlar: a zlib stream, or the bytes as
// they are where the stream would be no shorter.
#pragma once

#include <cstddef>
#include <string>

namespace numabench {

std::string compress(const std::string& bytes);

/// The inverse; `size_bytes` is that of the bytes given to compress(). Throws std::exception when
/// `stored` is damaged.
std::string decompress(const std::string& stored, std::size_t size_bytes);

}  // namespace numabench
