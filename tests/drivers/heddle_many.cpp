// Runs one command line of `heddle` after another in one process, or in one job of ranks, for tests/drivers/command.py:
// MPI, Kokkos and a GPU's runtime start once rather than with every command. Start-up, signals and crashes are tested
// with the command itself.
//
//   heddle_many SOCKET
//   heddle_many --options     prints the tables of options as JSON, and ends
//
// Each rank connects to the socket, says its number, and is then sent lines of JSON: the folder to run in, the files to
// which standard output and standard error are appended, and the words of the command. It answers with the exit code.
// The end of the connection ends it. Between commands all ranks sleep in read(), where a call of MPI would spin.
#include "drivers/command_line.hpp"
#include "drivers/support/process/signals.hpp"
#include "drivers/support/ranks.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {
namespace {

// The connection to the test, by lines.
class Connection {
 public:
  explicit Connection(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    require(path.size() < sizeof(address.sun_path), path, ": too long for a socket's name");
    std::memcpy(address.sun_path, path.data(), path.size());
    require(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, path, ": ",
            std::strerror(errno));
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void say(int number) const {
    const std::string line = std::to_string(number) + "\n";
    require(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()),
            "the test no longer listens");
  }
  // False at the end of the connection.
  bool read(std::string& line) {
    std::size_t end = received_.find('\n');
    while (end == std::string::npos) {
      char piece[4096];
      const ssize_t count = ::read(socket_, piece, sizeof(piece));
      if (count <= 0) return false;
      received_.append(piece, static_cast<std::size_t>(count));
      end = received_.find('\n');
    }
    line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return true;
  }

 private:
  int socket_;
  std::string received_;
};

// Redirects a file descriptor to the end of a file during its life.
class Redirection {
 public:
  Redirection(int descriptor, const std::string& file) : descriptor_(descriptor), before_(::dup(descriptor)) {
    const int target = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    require(target >= 0, file, ": ", std::strerror(errno));
    ::dup2(target, descriptor_);
    ::close(target);
  }
  ~Redirection() {
    std::cout.flush();
    std::fflush(nullptr);
    ::dup2(before_, descriptor_);
    ::close(before_);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;

 private:
  int descriptor_;
  int before_;
};

// As main() of the command does, where MPI and Kokkos run already.
int run_command(const std::vector<std::string>& arguments, int rank, const DeviceBinding& device) {
  std::vector<const char*> words = {"heddle"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  const CommandLine line = read_command_line(static_cast<int>(words.size()), words.data());
  if (rank == 0 && !line.complaint.empty()) complain(line.complaint);
  if (line.exit_code) return *line.exit_code;
  if (line.selection.serial) return run_serial(line.selection);
  return run_agreed([&] { return run_parallel(line.selection, device); });
}

void serve(const std::string& socket) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const DeviceBinding device = bind_device(MPI_COMM_WORLD);
  auto settings = device.settings();
  settings.set_disable_warnings(true);
  const Kokkos::ScopeGuard kokkos(settings);
  Connection test(socket);
  test.say(rank);
  std::string line;
  while (test.read(line)) {
    const auto request = nlohmann::json::parse(line);
    int code = exit_done;
    {
      const Redirection output(STDOUT_FILENO, request.at("output"));
      const Redirection errors(STDERR_FILENO, request.at("errors"));
      std::filesystem::current_path(request.at("folder").get<std::string>());
      try {
        code = run_command(request.at("arguments"), rank, device);
      } catch (...) {
        const Failure failure = current_failure();
        complain(failure.message);
        code = failure.exit_code;
      }
      // The test removes its folder.
      std::filesystem::current_path("/");
    }
    test.say(code);
  }
}

}  // namespace
}  // namespace heddle::driver

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: heddle_many SOCKET|--options\n");
    return 2;
  }
  if (std::string_view(argv[1]) == "--options") {
    std::printf("%s\n", heddle::driver::describe_options().dump().c_str());
    return 0;
  }
  heddle::driver::remove_files_on_signals();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    heddle::driver::serve(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle_many: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
