// Running gnuplot on scripts of ours and believing none of its exit codes alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace numabench {

/// For gnuplot as it stands, on one line: single quotes expand neither escapes nor back-quoted
/// shell commands.
std::string gnuplot_string(const std::string& text);

/// ASCII letters and digits in lower case, everything else one '-': safe in every shell and URL.
std::string file_slug(const std::string& text);

/// Throws Error(kRun) when it cannot.
void make_figure_directory(const std::string& directory);

/// Runs <directory>/<base>.gp, which writes <base>.svg and <base>.png, and returns their paths
/// after checking that they are there and not empty: gnuplot can succeed and leave an empty file,
/// on a full disk for one. Throws Error(kRun) with its own message.
std::vector<std::string> run_gnuplot(const std::string& directory, const std::string& base);

}  // namespace numabench
