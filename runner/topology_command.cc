// `numabench topology`: what this host, an XML file or a synthetic description looks like.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "hosts/files.h"
#include "hosts/topology.h"
#include "runner/commands.h"

namespace numabench {
namespace {

struct TopologyOptions {
  std::string file;
  std::string synthetic;
  std::string format = "table";
  std::string output;
};

Topology chosen_topology(const TopologyOptions& options) {
  if (!options.synthetic.empty()) return Topology::of_synthetic(options.synthetic);
  if (options.file.empty()) return Topology::of_this_host();
  if (std::filesystem::is_directory(options.file)) {
    return Topology::of_gathered_folder(options.file);
  }
  return Topology::of_xml_file(options.file);
}

std::string in_format(const Topology& topology, const std::string& format) {
  if (format == "json") return topology_json(topology);
  if (format == "xml") return topology.xml();
  if (format == "svg") return topology_svg(topology);
  return format_topology(topology);
}

int topology(const TopologyOptions& options) {
  const std::string text = in_format(chosen_topology(options), options.format);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_text_file(options.output, text);
  }
  return 0;
}

}  // namespace

void add_topology_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<TopologyOptions>();
  CLI::App* command = add_subcommand(
      app, "topology", "Show packages, NUMA nodes, CPUs, caches, memory and distances",
      "numabench topology --synthetic 'pack:2 numa:3 core:8 pu:2'");
  CLI::Option* file = command->add_option("--file", options->file,
                                          "Another host: lstopo's XML, or the unpacked folder of "
                                          "hwloc-gather-topology; to look at, nothing runs on it");
  command
      ->add_option("--synthetic", options->synthetic, "Use hwloc's synthetic description instead")
      ->excludes(file);
  command
      ->add_option("--format", options->format,
                   "table, json, xml (hwloc's) or svg (hwloc's drawing)")
      ->check(CLI::IsMember({"table", "json", "xml", "svg"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "The file to write (default: standard output)");
  command->callback([options, &chosen] { chosen = [options] { return topology(*options); }; });
}

}  // namespace numabench
