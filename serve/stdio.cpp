#include "serve/stdio.h"

#include "serve/protocol.h"

namespace treeline::serve {
namespace {

/// The next line, as far as it may be kept; false at the end.
bool read_line(std::istream& in, std::string& line, bool& too_long) {
    line.clear();
    too_long = false;
    std::streambuf& buffer = *in.rdbuf();
    for (int letter = buffer.sbumpc(); letter != std::char_traits<char>::eof(); letter = buffer.sbumpc()) {
        if (letter == '\n') {
            return true;
        }
        too_long = too_long || line.size() >= longest_message;
        if (!too_long) {
            line.push_back(static_cast<char>(letter));
        }
    }
    return !line.empty();
}

}  // namespace

void serve_messages(std::istream& in, std::ostream& out, Setting setting) {
    Protocol protocol(std::move(setting));
    std::string line;
    bool too_long = false;
    while (out && read_line(in, line, too_long)) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        const std::string reply =
            too_long ? R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is at most 1 MiB long"}})"
                     : protocol.reply(line);
        if (!reply.empty()) {
            out << reply << '\n' << std::flush;
        }
    }
}

}  // namespace treeline::serve
