import Core
import Crypto
import Evidence
import Glibc
import JSON

/// Where a command writes: what was asked for, and what went wrong.
struct Console: Sendable {
    let say: @Sendable (String) -> Void
    let complain: @Sendable (String) -> Void

    static let standard = Console(
        say: { print($0) },
        complain: { text in
            let line = Array((text + "\n").utf8)
            write(STDERR_FILENO, line, line.count)
        })
}

/// What `deed verify` was asked.
struct VerifyOptions {
    static let usage = """
        deed verify FILE [--bundle-id ID] [--extra-roots DIR] [--device-id ID] \
        [--app-version VERSION] [--at INSTANT] [--json]
        """

    private(set) var file = ""
    private(set) var extraRoots: String?
    private(set) var question: Question
    private(set) var isJSON = false

    /// Reads the arguments; a text tells what is wrong with them.
    init(_ arguments: [String], now: Instant) throws(UsageError) {
        question = Question(now: now)
        var rest = arguments[...]
        var files: [String] = []
        while let argument = rest.popFirst() {
            if argument == "--json" {
                isJSON = true
            } else if argument.hasPrefix("--") {
                guard let value = rest.popFirst() else {
                    throw UsageError("\(argument) needs a value")
                }
                try set(argument, value)
            } else {
                files.append(argument)
            }
        }
        guard let first = files.first, files.count == 1 else {
            throw UsageError("name one file to verify")
        }
        file = first
    }

    private mutating func set(_ name: String, _ value: String) throws(UsageError) {
        switch name {
        case "--bundle-id":
            guard let id = try? AppID(value) else { throw UsageError("\(name) is no bundle id") }
            question.bundleID = id
        case "--extra-roots": extraRoots = value
        case "--device-id":
            guard let device = DeviceID(value) else {
                throw UsageError("\(name) takes a vendor identifier or a network address")
            }
            question.device = device
        case "--app-version": question.appVersion = value
        case "--at":
            guard let instant = Instant(text: value) else {
                throw UsageError("\(name) takes an instant such as 2026-11-20T19:21:00Z")
            }
            question.now = instant
        default: throw UsageError("\(name) is not an option of this command")
        }
    }
}

/// The arguments make no sense; the text says why.
struct UsageError: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// Verifies one file without database or network. Gives 0 when the evidence is believed, 1 when it
/// is refused, 2 when the arguments make no sense and 3 when a file cannot be read.
func runVerify(arguments: [String], console: Console, now: Instant) -> Int32 {
    do {
        let options = try VerifyOptions(arguments, now: now)
        let roots = try options.extraRoots.map(readRoots) ?? []
        let evidence = try readFile(options.file, limit: Verifier.byteLimit + 1)
        let examination = Verifier(extraRoots: roots).examine(evidence, options.question)
        let report = VerifyReport(examination)
        console.say(options.isJSON ? report.json.text : report.text)
        return examination.isBelieved ? 0 : 1
    } catch let error as UsageError {
        console.complain("deed verify: \(error.text)\nusage: \(VerifyOptions.usage)")
        return 2
    } catch {
        console.complain("deed verify: \(error)")
        return 3
    }
}

/// A file that is not there, or not what it should be.
struct FileError: Error, CustomStringConvertible {
    let description: String
}

/// The first `limit` bytes of a file.
func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    guard let file = fopen(path, "r") else {
        throw FileError(
            description: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
    }
    defer { fclose(file) }
    var content: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while content.count < limit {
        let count = fread(&piece, 1, min(piece.count, limit - content.count), file)
        if count == 0 { break }
        content += piece[..<count]
    }
    if ferror(file) != 0 {
        throw FileError(description: "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    return content
}

/// The certificates in a folder, in PEM or DER, by the order of their file names.
func readRoots(in folder: String) throws(FileError) -> [Certificate] {
    guard let listing = opendir(folder) else {
        throw FileError(
            description: "\(folder) cannot be opened: \(String(cString: strerror(errno)))")
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if [".pem", ".crt", ".cer", ".der"].contains(where: name.hasSuffix) { names.append(name) }
    }
    var roots: [Certificate] = []
    for name in names.sorted() {
        let path = "\(folder)/\(name)"
        let bytes = try readFile(path, limit: 1 << 20)
        do {
            roots += try Certificate.read(bytes)
        } catch {
            throw FileError(description: "\(path) holds no certificate in PEM or DER")
        }
    }
    return roots
}
