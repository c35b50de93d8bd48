#include "reports/compression.h"

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/zlib.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <stdexcept>

namespace numabench {
namespace {

namespace io = boost::iostreams;

template <typename Filter>
std::string filter_through(const Filter& filter, const std::string& input) {
  std::string output;
  io::filtering_istream stream;
  stream.push(filter);
  stream.push(io::array_source(input.data(), input.size()));
  io::copy(stream, io::back_inserter(output));
  return output;
}

}  // namespace

std::string compress(const std::string& bytes) {
  std::string stream = filter_through(io::zlib_compressor(), bytes);
  return stream.size() < bytes.size() ? stream : bytes;
}

std::string decompress(const std::string& stored, std::size_t size_bytes) {
  if (stored.size() == size_bytes) return stored;
  std::string bytes = filter_through(io::zlib_decompressor(), stored);
  if (bytes.size() != size_bytes) throw std::runtime_error("the compressed stream is cut short");
  return bytes;
}

}  // namespace numabench
