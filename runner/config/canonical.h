// The canonical YAML of an experiment, line by line: the one writer behind the hash, the store and
// `config show`.
#pragma once

#include <string>
#include <vector>

#include "runner/config/experiment.h"

namespace numabench {

struct CanonicalLine {
  std::string text;                  ///< without the line's end
  std::vector<std::string> origins;  ///< dotted paths of the values on it
};

/// Nothing that depends on a host or another file is left: arms have every switch, workloads every
/// parameter, nodes are lists of CPUs, and `cells` lists what matrix, zip and exclude came to.
std::vector<CanonicalLine> canonical_lines(const Experiment& experiment);

/// `text` as a YAML scalar that this program reads back as the same text.
std::string yaml_text(const std::string& text);

/// The largest binary unit of which `bytes` is a whole number: "512MiB", "12345B".
std::string exact_bytes(std::uint64_t bytes);

}  // namespace numabench
