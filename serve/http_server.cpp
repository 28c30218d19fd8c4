#include <atomic>
#include <semaphore>
#include <thread>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "serve/http_connection.h"
#include "serve/openapi.h"
#include "serve/server.h"
#include "text/input_error.h"
#include "text/plain_text.h"

namespace treeline::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* json_type = "application/json";
/// That of the page itself (reports/page/build.mjs) is stricter and holds beside it.
constexpr const char* page_policy = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
constexpr const char* data_policy = "default-src 'none'; frame-ancestors 'none'";

/// The connection that this thread serves: what cpp-httplib's handlers are not told.
thread_local Connection* served_here = nullptr;

void set_json(httplib::Response& response, int status, const std::string& text) {
    response.status = status;
    response.set_content(text::json_without_controls(text), json_type);
}

void refuse(httplib::Response& response, int status, const std::string& sentence) {
    set_json(response, status, Json{{"problems", {sentence}}}.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// All values of a header.
std::vector<std::string> values_of(const httplib::Request& request, const char* header) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < request.get_header_value_count(header); ++i) {
        values.push_back(request.get_header_value(header, i));
    }
    return values;
}

int status_of(const Answered& answer, const std::string& body) {
    switch (answer.outcome) {
        case Answered::Outcome::answered:
            return 200;
        case Answered::Outcome::refused:
            return json::parse_strictly(body).failure.empty() ? 422 : 400;
        case Answered::Outcome::too_large:
            return 422;
        case Answered::Outcome::failed:
            break;
    }
    return 500;
}

std::string sentence_of(int status, const Connection& connection) {
    return status == 408            ? "the request came too slowly"
           : status == 411          ? "the question is missing: its length is not stated (Content-Length)"
           : status == 413          ? "the body is larger than this server takes"
           : status == 414          ? "the address is too long"
           : status == 404          ? "there is nothing here; /v1/openapi.json lists what there is"
           : status == 405          ? "this path takes another method (Allow)"
           : connection.too_large() ? "the request is larger than this server takes"
                                    : "the request is not HTTP/1.1 as this server reads it";
}

constexpr int most_waiting = 256;

/// Asks cpp-httplib for each connection with the limits of ours.
class LimitedServer : public httplib::Server {
public:
    explicit LimitedServer(const HttpLimits& limits) : limits_(limits) {}

    /// cpp-httplib lets five connections wait to be accepted; the next asks again after 1, 3, 7, … seconds.
    void let_many_wait() { ::listen(svr_sock_, most_waiting); }

    void stop_soon() {
        stopping_ = true;
        stop();
    }

private:
    bool process_and_close_socket(socket_t socket) override {
        Connection connection(socket, limits_, stopping_);
        served_here = &connection;
        try {
            bool over = false;
            while (!over && !connection.closes() && connection.begins_request()) {
                if (!process_request(connection, stopping_, over, prepare)) {
                    connection.close_afterwards();
                }
            }
            connection.finish();
        } catch (...) {  // no memory for a request: this one ends, the others go on
        }
        served_here = nullptr;
        ::close(socket);
        return true;
    }

    /// Answers are neither compressed, which costs more than it saves here, nor cut into ranges.
    static void prepare(httplib::Request& request) {
        request.headers.erase("Accept-Encoding");
        request.headers.erase("Range");
        request.ranges.clear();
    }

    const HttpLimits& limits_;
    std::atomic<bool> stopping_{false};
};

}  // namespace

struct Server::State {
    explicit State(ServerInput given)
        : input(std::move(given)),
          description(openapi().dump(2) + "\n"),
          http(input.limits),
          slots(static_cast<std::ptrdiff_t>(std::max(1u, std::thread::hardware_concurrency()))) {}

    void answer(const Question& question, const std::string& body, httplib::Response& response) {
        if (!slots.try_acquire_for(input.setting.time_limit)) {
            response.set_header("Retry-After", "1");
            return refuse(response, 503, "too much is asked at once; ask again");
        }
        const Answered answer = ask(question, body, Form::json, input.setting);
        slots.release();
        set_json(response, status_of(answer, body), answer.text);
    }

    void add_questions();
    void add_pages();
    void add_rules();
    void add_errors();
    /// Why there is nothing at this path, or not by this method, whose "Allow" it then sets; nothing where there is.
    std::optional<Refusal> misplaced_question(const httplib::Request& request, httplib::Response& response) const;

    ServerInput input;
    std::string description;
    LimitedServer http;
    std::counting_semaphore<> slots;             ///< an answer takes a core
    std::vector<std::string> posted, looked_up;  ///< paths
    int port = 0;
};

void Server::State::add_questions() {
    for (const Question& question : questions()) {
        const std::string path = "/v1/" + question.name;
        if (question.is_a_look_up) {
            looked_up.push_back(path);
            http.Get(path, [this, &question](const httplib::Request& request, httplib::Response& response) {
                Json body = Json::object();
                for (const auto& [key, value] : request.params) {
                    body[key] = value;
                }
                answer(question, body.dump(-1, ' ', false, Json::error_handler_t::replace), response);
            });
        } else {
            posted.push_back(path);
            http.Post(path, [this, &question](const httplib::Request& request, httplib::Response& response) {
                answer(question, request.body, response);
            });
        }
    }
}

void Server::State::add_pages() {
    looked_up.insert(looked_up.end(), {"/", "/healthz", "/v1/openapi.json"});
    http.Get("/", [this](const httplib::Request&, httplib::Response& response) {
        if (input.page.empty()) {
            return refuse(response, 404, "this treeline was built without the live page; /v1/openapi.json lists what there is");
        }
        response.set_header("Content-Security-Policy", page_policy);
        response.set_content(input.page, "text/html; charset=utf-8");
    });
    http.Get("/healthz",
             [](const httplib::Request&, httplib::Response& response) { set_json(response, 200, R"({"status": "ok"})"); });
    http.Get("/v1/openapi\\.json",
             [this](const httplib::Request&, httplib::Response& response) { set_json(response, 200, description); });
}

void Server::State::add_rules() {
    http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
        const RequestHead head{request.method,
                               request.path,
                               request.get_header_value("Host"),
                               request.get_header_value("Origin"),
                               request.get_header_value("Authorization"),
                               request.get_header_value("Content-Type"),
                               request.get_header_value("Content-Encoding")};
        const bool with_body = request.has_header("Transfer-Encoding") || request.get_header_value("Content-Length", 0) != "";
        const std::optional<Refusal> misframed =
            framing_refusal(values_of(request, "Host"), values_of(request, "Content-Length"));
        if (misframed) {
            served_here->close_afterwards();  // where the next request begins is unknown
            refuse(response, misframed->status, misframed->sentence);
            response.set_header("Connection", "close");
            return httplib::Server::HandlerResponse::Handled;
        }
        std::optional<Refusal> refused = refusal(head, input.rules);
        if (!refused || refused->status == 415) {  // of what is not there, no body is of the wrong type
            const std::optional<Refusal> misplaced = misplaced_question(request, response);
            refused = misplaced ? misplaced : refused;
        }
        if (!refused && with_body && request.method != "POST") {
            refused = Refusal{400, "only questions have a body"};
        }
        if (!refused && !with_body &&
            request.method == "POST") {  // cpp-httplib would wait for a body until the connection ends
            refused = Refusal{411, sentence_of(411, *served_here)};
        }
        if (!refused && request.get_header_value<std::uint64_t>("Content-Length") > input.limits.body) {
            refused = Refusal{413, sentence_of(413, *served_here)};
        }
        if (!refused) {
            return httplib::Server::HandlerResponse::Unhandled;
        }
        if (refused->status == 401) {
            response.set_header("WWW-Authenticate", "Bearer");
        }
        refuse(response, refused->status, refused->sentence);
        return httplib::Server::HandlerResponse::Handled;
    });
}

std::optional<Refusal> Server::State::misplaced_question(const httplib::Request& request, httplib::Response& response) const {
    const auto among = [&](const std::vector<std::string>& paths) {
        return std::find(paths.begin(), paths.end(), request.path) != paths.end();
    };
    const bool is_question = among(posted), is_page = among(looked_up);
    if (is_question ? request.method == "POST" : is_page && (request.method == "GET" || request.method == "HEAD")) {
        return std::nullopt;
    }
    if (is_question || is_page) {
        response.set_header("Allow", is_question ? "POST" : "GET, HEAD");
    }
    const int status = is_question || is_page ? 405 : 404;
    return Refusal{status, sentence_of(status, *served_here)};
}

void Server::State::add_errors() {
    http.set_error_handler(httplib::Server::Handler([](const httplib::Request&, httplib::Response& response) {
        served_here->close_afterwards();  // what is left of the request is not read
        if (served_here->too_slow()) {
            response.status = 408;
        } else if (served_here->too_large()) {
            response.status = 413;
        }
        if (response.body.empty()) {
            refuse(response, response.status, sentence_of(response.status, *served_here));
        }
        response.set_header("Connection", "close");
    }));
    http.set_exception_handler([](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        refuse(response, 503, "there is not enough memory for this");
    });
}

bool has_http() { return true; }

Server::Server(ServerInput input) : state_(std::make_unique<State>(std::move(input))) {
    LimitedServer& http = state_->http;
    const ServerInput& given = state_->input;
    http.new_task_queue = [connections = given.limits.connections] { return new httplib::ThreadPool(connections); };
    http.set_payload_max_length(given.limits.body);
    http.set_tcp_nodelay(true);
    http.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cache-Control", "no-store"}});
    http.set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
        if (!response.has_header("Content-Security-Policy")) {
            response.set_header("Content-Security-Policy", data_policy);
        }
    });
    // Two servers of one port would share its requests, which cpp-httplib asks for.
    http.set_socket_options([](socket_t socket) {
        const int yes = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    state_->add_questions();
    state_->add_pages();
    state_->add_rules();
    state_->add_errors();
    state_->port = given.port == 0                                ? http.bind_to_any_port(given.address)
                   : http.bind_to_port(given.address, given.port) ? given.port
                                                                  : -1;
    if (state_->port < 0) {
        throw text::InputError(
            {fmt::format("serve: {} port {} cannot be had: another program has it, it is no address of this "
                         "machine, or a port that not everyone may take",
                         given.address, given.port)});
    }
    http.let_many_wait();
}

Server::~Server() = default;
int Server::port() const { return state_->port; }
void Server::run() { state_->http.listen_after_bind(); }
void Server::stop() { state_->http.stop_soon(); }

}  // namespace treeline::serve
