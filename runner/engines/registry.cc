#include <array>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "runner/engines/embedded/embedded_engine.h"
#include "runner/engines/engine.h"
#include "runner/engines/postgres/postgres_engine.h"

namespace numabench {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Engine> (*make)();
};

// One line an engine.
constexpr std::array kEngines = {
    Entry{"embedded", &make_embedded_engine},
    Entry{"postgres", &make_postgres_engine},
};

}  // namespace

std::unique_ptr<Engine> make_engine(const std::string& name, const std::string& place) {
  for (const Entry& entry : kEngines) {
    if (name == entry.name) return entry.make();
  }
  throw Error(ErrorKind::kUsage, "unknown engine '" + name + "'", suggest(name, engine_names()),
              place);
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kEngines) names.emplace_back(entry.name);
  return names;
}

}  // namespace numabench
