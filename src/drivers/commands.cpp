// Adding subcommands to the parser of `heddle`.
#include "drivers/commands.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace heddle::driver {

CLI::App& add_subcommand(CLI::App& parent, const CommandHelp& help) {
  CLI::App& command = *parent.add_subcommand(help.name, help.about);
  command.footer("Example:\n" + help.example);
  return command;
}

void when_chosen(CLI::App& command, std::function<void()> chosen) {
  command.callback(std::move(chosen));
}

}  // namespace heddle::driver
