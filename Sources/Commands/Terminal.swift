import Core
import Glibc
import Threading

package func printText(_ text: String) {
    write(text + "\n", to: STDOUT_FILENO)
}

package func printBytes(_ bytes: [UInt8]) {
    write(bytes, to: STDOUT_FILENO)
}

/// Prints a line to standard error with a single write.
package func printError(_ text: String) {
    write(text + "\n", to: STDERR_FILENO)
}

/// Shows a line that the next line replaces. Does nothing without a terminal.
package func showProgress(_ text: String) {
    if isatty(STDERR_FILENO) == 1 { write("\r\(text)\u{1B}[K\r", to: STDERR_FILENO) }
}

/// Progress that appears only after a second, so that fast commands print nothing.
package struct Progress {
    private let started = monotonicMilliseconds()

    package init() {}

    package func show(_ text: String) {
        if monotonicMilliseconds() - started > 1000 { showProgress(text) }
    }

    package func end() { show("") }
}

private func write(_ text: String, to descriptor: Int32) {
    write(Array(text.utf8), to: descriptor)
}

private func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        // The reader has closed the pipe.
        if count <= 0 { return }
        rest = rest.dropFirst(count)
    }
}

extension String {
    /// The text with control characters shown by name, because it may come from a stranger.
    package var withVisibleControls: String {
        if unicodeScalars.allSatisfy({ !$0.controlsTerminal }) { return self }
        return unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.controlsTerminal {
                shown += "<\(scalar.codePoint)>"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var controlsTerminal: Bool {
        let isControl = properties.generalCategory == .control && self != "\n" && self != "\t"
        return isControl || properties.isBidiControl
    }
}

/// Asks a question on standard error without a line break, so that the answer follows on the same line.
package func promptPerson(_ question: String) {
    write(question, to: STDERR_FILENO)
}
