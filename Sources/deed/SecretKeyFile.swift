import Assembly
import Core
import Crypto
import Glibc

/// Where the installation's key is kept: 64 hexadecimal digits that only their owner may read. It is
/// made when it is needed first.
struct SecretKeyFile: Sendable {
    let path: String
    /// The folder that is made with the first key, where it is Deed's own.
    var folder: String?

    /// The key that takes its place while one is rotated, and the one that it took the place of.
    private var next: SecretKeyFile { SecretKeyFile(path: "\(path).next") }
    private var old: SecretKeyFile { SecretKeyFile(path: "\(path).old") }

    /// The key, and behind it those that may have sealed or signed what is still there.
    func keys(making: Bool) throws(CommandEnd) -> [SecretKey] {
        [try key(making: making)] + [try next.read(), try old.read()].compactMap(\.self)
    }

    /// Makes a new key and puts it in the place of the old one, once `reseal` has sealed everything
    /// under it. A process that dies in between leaves files that open everything, and the next call
    /// goes on where it stopped.
    func rotate(_ reseal: ([SecretKey]) throws(CommandEnd) -> Void) throws(CommandEnd) {
        let current = try key(making: false)
        let successor = try next.key(making: true)
        try reseal([successor, current] + [try old.read()].compactMap(\.self))
        unlink(old.path)
        if link(path, old.path) != 0 || rename(next.path, path) != 0 {
            throw fault(String(cString: strerror(errno)))
        }
        syncFolder(of: path)
    }

    /// The key. Where there is none it is made, unless something was signed with it before.
    func key(making: Bool) throws(CommandEnd) -> SecretKey {
        if let key = try read() { return key }
        if !making {
            throw fault("it is not there; bring back the file with which this was signed")
        }
        try make()
        guard let key = try read() else { throw fault("it vanished as soon as it was made") }
        return key
    }

    /// The key; `nil` where there is none yet.
    private func read() throws(CommandEnd) -> SecretKey? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        if descriptor < 0 { throw fault(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw fault("it is no file")
        }
        if status.st_mode & 0o077 != 0 {
            throw fault("others than its owner may use it; run: chmod 600 \(path)")
        }
        var text = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &text, text.count)
        let digits = text.prefix(max(count, 0)).filter { $0 != UInt8(ascii: "\n") }
        guard
            let key = [UInt8](hex: String(decoding: digits, as: UTF8.self)).flatMap(SecretKey.init)
        else {
            throw fault("it does not hold 64 hexadecimal digits; bring back the file from a backup")
        }
        return key
    }

    /// Makes the file at once with all that belongs in it, so that two who make it get the same one.
    private func make() throws(CommandEnd) {
        if let folder { mkdir(folder, 0o755) }
        let draft = "\(path).\(randomBytes(8).hex)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw fault(String(cString: strerror(errno))) }
        defer { unlink(draft) }
        let text = Array((randomBytes(SecretKey.byteCount).hex + "\n").utf8)
        let isWritten = write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
        close(descriptor)
        if !isWritten { throw fault("it cannot be written") }
        if link(draft, path) != 0, errno != EEXIST { throw fault(String(cString: strerror(errno))) }
        syncFolder(of: path)
    }

    private func fault(_ reason: String) -> CommandEnd {
        .fault("The installation's key in \(path) cannot be used: \(reason).")
    }
}

extension Option {
    static let secretKeyFile = setting(
        "secret-key-file", "FILE",
        "the installation's key, made when it is needed first; without it, secret.key in the data "
            + "folder")
}

extension Invocation {
    /// The installation's key, to sign with it or, when it is not to be made, to see what it signed.
    func secretKey(making: Bool) throws(CommandEnd) -> SecretKey {
        try secretKeyFile.key(making: making)
    }

    /// The installation's key and its predecessor, to see what either has signed.
    func secretKeys() throws(CommandEnd) -> [SecretKey] {
        try secretKeyFile.keys(making: false)
    }

    var secretKeyFile: SecretKeyFile {
        let folder = Settings(self).dataFolder
        return self["secret-key-file"].map { SecretKeyFile(path: $0) }
            ?? SecretKeyFile(path: "\(folder)/secret.key", folder: folder)
    }
}

extension SecretKeyFile {
    /// The same as `keys`, with the reason alone where there are none.
    func ring(making: Bool) throws(KeyTrouble) -> [SecretKey] {
        do throws(CommandEnd) {
            return try keys(making: making)
        } catch {
            throw KeyTrouble(sentence: error.sentence)
        }
    }
}
