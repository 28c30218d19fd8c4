// Asks a server at a steady rate, whether or not it keeps up, and says how long answers took.
//   treeline_serve_load PORT PATH BODY_FILE PER_SECOND SECONDS CONNECTIONS
// prints "<asked> <failed> <p50 ms> <p99 ms> <largest ms>". Each request is due at its own moment, and its time counts from
// then: a server that stands still for a second makes all that were due in it late.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace {

using Clock = std::chrono::steady_clock;

/// One connection, opened anew where the server closed it.
class Connection {
public:
    explicit Connection(int port) : port_(port) {}
    ~Connection() { close(); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    bool ask(const std::string& request) {
        if (socket_ < 0 && !open()) {
            return false;
        }
        if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
            close();
            return false;
        }
        return read_answer();
    }

private:
    bool open() {
        socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
        const int yes = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port_));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    void close() {
        if (socket_ >= 0) {
            ::close(socket_);
        }
        socket_ = -1;
    }
    /// All of it, by its Content-Length; whether its status is 200.
    bool read_answer() {
        std::string text;
        std::size_t wanted = std::string::npos;
        char buffer[65536];
        while (text.size() < wanted) {
            const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
            if (got <= 0) {
                close();
                return false;
            }
            text.append(buffer, static_cast<std::size_t>(got));
            const std::size_t end = text.find("\r\n\r\n"), length = text.find("Content-Length: ");
            if (wanted == std::string::npos && end != std::string::npos && length < end) {
                wanted = end + 4 + std::strtoul(text.c_str() + length + 16, nullptr, 10);
            }
        }
        const bool closes = text.find("Connection: close") < text.find("\r\n\r\n");
        if (closes) {
            close();
        }
        return text.starts_with("HTTP/1.1 200");
    }

    int port_;
    int socket_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7) {
        return 2;
    }
    const int port = std::atoi(argv[1]);
    std::ifstream file(argv[3], std::ios::binary);
    const std::string body(std::istreambuf_iterator<char>(file), {});
    const double rate = std::atof(argv[4]);
    const auto count = static_cast<std::size_t>(rate * std::atof(argv[5]));
    const std::string request =
        fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                    argv[2], body.size(), body);
    std::atomic<std::size_t> next{0}, failed{0};
    std::vector<double> times(count);
    const Clock::time_point begin = Clock::now() + std::chrono::milliseconds(50);
    const auto worker = [&] {
        Connection connection(port);
        for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
            const auto due = begin + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(static_cast<double>(i) / rate));
            std::this_thread::sleep_until(due);
            failed += connection.ask(request) ? 0 : 1;
            times[i] = std::chrono::duration<double, std::milli>(Clock::now() - due).count();
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < std::atoi(argv[6]); ++i) {
        threads.emplace_back(worker);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
        return times.empty() ? 0.0 : times[static_cast<std::size_t>(share * static_cast<double>(count - 1))];
    };
    fmt::print("{} {} {:.1f} {:.1f} {:.1f}\n", count, failed.load(), at(0.5), at(0.99), at(1.0));
    return 0;
}
