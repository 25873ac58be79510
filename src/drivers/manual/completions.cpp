// Completions for bash and zsh.
#include "drivers/manual/pages.hpp"

namespace heddle::driver {
namespace {

std::vector<std::string> names_of(const CommandPage& command) {
  std::vector<std::string> names;
  for (const OptionPage& option : command.options) {
    for (const std::string& name : option.words.typed_names()) names.push_back(name);
  }
  names.emplace_back("--help");
  names.emplace_back("-h");
  return names;
}

// Return whether a value is a word that the shell can complete: one of some, or a file.
bool is_file(const OptionWords& words) {
  return words.choices.empty() && (words.type_name == "FILE" || words.type_name == "DECK" || words.type_name == "PNG" ||
                                   words.type_name == "FOLDER");
}

// Return the commands of a group; "" is the group of first words.
std::vector<const CommandPage*> members_of(const std::vector<CommandPage>& commands, const std::string& group) {
  std::vector<const CommandPage*> members;
  for (const CommandPage& command : commands) {
    const std::size_t blank = command.name.find(' ');
    const std::string of = blank == std::string::npos ? "" : command.name.substr(0, blank);
    if (of == group) members.push_back(&command);
  }
  return members;
}

std::string last_word(const CommandPage& command) {
  return command.name.substr(command.name.find(' ') + 1);
}

std::string bash_case(const CommandPage& command) {
  std::string text = "    '" + command.name + "')\n      options='" + joined(names_of(command), " ") + "'\n";
  text += "      case $previous in\n";
  std::vector<std::string> others;
  for (const OptionPage& option : command.options) {
    const OptionWords& words = option.words;
    if (words.is_flag() || is_file(words)) continue;
    if (words.choices.empty()) {
      for (const std::string& name : words.typed_names()) others.push_back(name);
    } else {
      text += "        " + joined(words.typed_names(), " | ") + ") values='" + joined(words.choices, " ") + "' ;;\n";
    }
  }
  // A number or a placement has no completion.
  if (!others.empty()) text += "        " + joined(others, " | ") + ") return ;;\n";
  return text + "      esac ;;\n";
}

std::string zsh_text(const std::string& text) {
  return escaped(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}});
}

std::string zsh_option(const OptionPage& option) {
  const OptionWords& words = option.words;
  std::string action;
  if (!words.is_flag()) {
    action = ':' + zsh_text(words.type_name) + ':';
    if (!words.choices.empty()) action += '(' + joined(words.choices, " ") + ')';
    if (is_file(words)) action += "_files";
  }
  const std::string repeatable = words.is_list ? "*" : "";
  const std::string meaning = '[' + zsh_text(words.help) + ']' + action + '\'';
  std::string text;
  for (const std::string& name : words.typed_names()) text.append(" \\\n        '" + repeatable).append(name + meaning);
  return text;
}

std::string zsh_group(const std::vector<CommandPage>& commands, const std::string& group, const std::string& function) {
  std::string text = function + "() {\n  local -a commands=(\n";
  for (const CommandPage* command : members_of(commands, group)) {
    text += "    '" + last_word(*command) + ':' + zsh_text(command->about) + "'\n";
  }
  text += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n";
  text += "  shift words\n  ((CURRENT -= 1))\n  case ${words[1]} in\n";
  for (const CommandPage* command : members_of(commands, group)) {
    text += "    " + last_word(*command) + ")\n";
    if (command->is_group) {
      text += "      _heddle_" + command->name + " ;;\n";
      continue;
    }
    text += "      _arguments";
    for (const OptionPage& option : command->options) text += zsh_option(option);
    text += " \\\n        '(- *)--help[Print the help of this command]' \\\n        '*:file:_files' ;;\n";
  }
  return text + "  esac\n}\n";
}

}  // namespace

std::vector<ManualFile> bash_completion(const std::vector<CommandPage>& commands) {
  std::string text =
      "# Completion of heddle for bash.\n"
      "_heddle() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command=${COMP_WORDS[1]-} place=2 options='' values=''\n"
      "  COMPREPLY=()\n";
  std::vector<std::string> first;
  std::string groups;
  for (const CommandPage* command : members_of(commands, "")) {
    first.push_back(command->name);
    if (!command->is_group) continue;
    std::vector<std::string> members;
    for (const CommandPage* member : members_of(commands, command->name)) members.push_back(last_word(*member));
    groups += "    " + command->name + ")\n      place=3\n      options='" + joined(members, " ") +
              "'\n      ((COMP_CWORD == 2)) || command+=\" ${COMP_WORDS[2]-}\" ;;\n";
  }
  text += "  if ((COMP_CWORD == 1)); then\n    mapfile -t COMPREPLY < <(compgen -W '" + joined(first, " ") +
          " --help --version' -- \"$current\")\n    return\n  fi\n";
  text += "  case $command in\n" + groups + "  esac\n  case $command in\n";
  for (const CommandPage& command : commands) {
    if (!command.is_group) text += bash_case(command);
  }
  return {{"heddle", text + "  esac\n"
                            "  if [[ -n $values ]]; then\n"
                            "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\")\n"
                            "  elif [[ $current == -* ]] || ((COMP_CWORD < place)); then\n"
                            "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
                            "  else\n"
                            "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                            "  fi\n"
                            "}\n"
                            "complete -o filenames -F _heddle heddle\n"}};
}

std::vector<ManualFile> zsh_completion(const std::vector<CommandPage>& commands) {
  std::string text = "#compdef heddle\n# Completion of heddle for zsh.\n";
  for (const CommandPage* command : members_of(commands, "")) {
    if (command->is_group) text += zsh_group(commands, command->name, "_heddle_" + command->name);
  }
  return {{"_heddle", text + zsh_group(commands, "", "_heddle") + "_heddle \"$@\"\n"}};
}

}  // namespace heddle::driver
