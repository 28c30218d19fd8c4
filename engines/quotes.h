// Quotes in a text that is scanned character by character: those of a shell and of Python alike.
#pragma once

namespace treeline::engines {

/// Which quote is open.
class Quotes {
public:
    /// Takes the next character. True where it is a quote or stands within two, so that it means nothing else.
    bool take(char c) {
        if (open_ != 0) {
            open_ = c == open_ ? char(0) : open_;
            return true;
        }
        open_ = c == '"' || c == '\'' ? c : char(0);
        return open_ != 0;
    }
    [[nodiscard]] bool are_open() const { return open_ != 0; }

private:
    char open_ = 0;
};

}  // namespace treeline::engines
