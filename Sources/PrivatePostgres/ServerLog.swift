import Glibc

/// PostgreSQL's own log. PostgreSQL's processes append to the file for as long as they run, so the file is shortened in
/// place.
struct ServerLog {
    /// The file size, in bytes, at which the log is shortened. As many bytes from its end are kept in a second file.
    static let limit: Int64 = 16 << 20
    /// How many bytes to read from the end. Messages about a start are among the last ones.
    private static let tailLength: Int64 = 2000

    let path: String
    /// The file that keeps the last messages from before the log was shortened.
    var formerPath: String { "\(path).1" }

    /// The last few messages, however large the file is.
    var tail: String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 { return "" }
        defer { close(descriptor) }
        let start = max(0, size - ServerLog.tailLength)
        var bytes = [UInt8](repeating: 0, count: Int(ServerLog.tailLength))
        let count = pread(descriptor, &bytes, bytes.count, off_t(start))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Shortens a large file. `asOwner` returns a command in a form that runs it as the file's
    /// owner. Messages that are written meanwhile may be lost.
    func shorten(asOwner: ([String]) -> [String]) {
        if size < ServerLog.limit { return }
        let script = """
            umask 077; tail -c "$2" "$1" >"$1.1.new" && mv "$1.1.new" "$1.1" && : >"$1"
            """
        _ = runProgram(asOwner(["/bin/sh", "-c", script, "sh", path, "\(ServerLog.limit)"]))
    }

    private var size: Int64 {
        var found = stat()
        return lstat(path, &found) == 0 ? Int64(found.st_size) : 0
    }
}
