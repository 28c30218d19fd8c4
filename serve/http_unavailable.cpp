// In place of the HTTP server where Treeline is built without cpp-httplib (TREELINE_SERVE=OFF).
#include "serve/server.h"
#include "text/input_error.h"

namespace treeline::serve {

struct Server::State {};

bool has_http() { return false; }

Server::Server(ServerInput /*input*/) {
    throw text::InputError({"serve: this treeline was built without HTTP; --stdio serves the Model Context Protocol"});
}
Server::~Server() = default;
int Server::port() const { return 0; }
void Server::run() {}
void Server::stop() {}

}  // namespace treeline::serve
