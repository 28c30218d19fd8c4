// The questions over HTTP, with the live page.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "serve/guard.h"
#include "serve/questions.h"

namespace treeline::serve {

/// What a client may take.
struct HttpLimits {
    std::size_t body = 1u << 20;                 ///< bytes
    std::size_t head = 64u << 10;                ///< bytes of request line and headers
    std::chrono::milliseconds request{10'000};   ///< until all of a request has come
    std::chrono::milliseconds response{30'000};  ///< until all of an answer is taken
    std::chrono::milliseconds idle{5'000};       ///< between two requests of a connection
    std::size_t connections = 64;                ///< at once; others wait
};

struct ServerInput {
    Setting setting;
    std::string address = "127.0.0.1";
    int port = 8080;  ///< 0: any that is free
    Rules rules;
    HttpLimits limits;
    std::string page;  ///< HTML; empty where the program was built without the live page
};

/// Whether this program was built with HTTP.
bool has_http();

class Server {
public:
    /// Binds. Throws InputError where the address or port cannot be had.
    explicit Server(ServerInput input);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] int port() const;
    /// Answers until stop() is called from another thread, and returns once every answer that was being made is sent.
    void run();
    void stop();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace treeline::serve
