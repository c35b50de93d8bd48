// Typed values out of a YAML tree. Every error has the place of the value and says what to write.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "runner/config/yaml_tree.h"

namespace numabench {

/// `what` names the value in errors: "'runs'".
std::string read_text(const YamlNode& node, const std::string& what);
/// A text that names a file, a column or a selector: letters, digits, '.', '_', '+' and '-'.
std::string read_name(const YamlNode& node, const std::string& what);
bool read_boolean(const YamlNode& node, const std::string& what);
double read_number(const YamlNode& node, const std::string& what);
int read_integer(const YamlNode& node, const std::string& what, int minimum);
/// The whole range of 64 bits, which a double does not hold.
std::uint64_t read_seed(const YamlNode& node, const std::string& what);
/// The index of the text in `choices`. `off` and the like are accepted where they are a choice.
std::size_t read_choice(const YamlNode& node, const std::string& what,
                        const std::vector<std::string>& choices);
/// Seconds or laps, with the unit, or "steady".
Span read_span(const YamlNode& node, const std::string& what);
double read_seconds(const YamlNode& node, const std::string& what);

/// Any scalar as written, for values that somebody else checks (policy switches, workload
/// parameters). Words and numbers that YAML readers disagree about are refused, unless they are
/// among `choices`.
std::string read_scalar(const YamlNode& node, const std::string& what,
                        const std::vector<std::string>& choices = {});

/// Any scalar exactly as written, for values that are text to us whatever they look like.
std::string read_verbatim(const YamlNode& node, const std::string& what);

/// The items of a list that is not empty. Throws for anything else.
std::vector<const YamlNode*> read_list(const YamlNode& node, const std::string& what);
/// The same where a single value stands for a list of one: the factors.
std::vector<const YamlNode*> read_list_or_one(const YamlNode& node, const std::string& what);

/// A map whose keys are all among `known`. Throws for anything else, with a spelling suggestion.
void check_map(const YamlNode& node, const std::string& what,
               const std::vector<std::string>& known);
/// The value of a key that must be there.
const YamlNode& need(const YamlNode& map, const std::string& key, const std::string& what);

/// Runs `body`; an Error(…) that it throws without a place gets this one.
void with_place(const Origin& where, const std::function<void()>& body);

/// "'runs'"
std::string quoted(const std::string& key);

}  // namespace numabench
