import Assembly
import Commands
import Core
import Crypto
import Glibc
import Ledger
import Machine
import PrivatePostgres

/// The file with the installation's key: 64 hexadecimal digits, readable only by the owner. It is created on first use.
struct SecretKeyFile: Sendable {
    let path: String
    /// The folder to create together with the first key, if it is Deed's own folder.
    var folder: String?
    /// The owner of a new key that root creates. The default is the folder's owner.
    var owner: ServiceUser?

    /// The next key during a rotation.
    private var next: SecretKeyFile { SecretKeyFile(path: "\(path).next", folder: folder) }

    var isLink: Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFLNK
    }

    /// Returns the key, followed by earlier keys that may have sealed or signed stored data.
    func keys(making: Bool) throws(CommandEnd) -> [SecretKey] {
        [try key(making: making)] + [try next.read()].compactMap(\.self) + (try predecessors())
    }

    /// Returns the earlier keys, each from its own file. A signature can be verified only with the
    /// key that made it.
    private func predecessors() throws(CommandEnd) -> [SecretKey] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let place = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "./"
        guard let listing = opendir(place) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let old = "\(parts.last ?? "").old"
            // Before keys had names, there could be only one old key.
            if name == old || name.hasPrefix("\(old).") { names.append(name) }
        }
        var keys: [SecretKey] = []
        for name in names.sorted() {
            let file = SecretKeyFile(path: place + name, folder: folder)
            if let key = try file.read() { keys.append(key) }
        }
        return keys
    }

    /// Replaces the key with a new one after `reseal` has sealed everything with the new one. If the process dies
    /// in between, the key files can still open everything, and the next call continues.
    func rotate(_ reseal: ([SecretKey]) throws(CommandEnd) -> Void) throws(CommandEnd) {
        guard let lock = FileLock("\(path).lock") else {
            throw fault("\(path).lock cannot be opened")
        }
        if !lock.tryExclusive() {
            throw fault("another command is rotating it; wait until that is done")
        }
        defer { lock.release() }
        let current = try key(making: false)
        var next = next
        next.owner = owner(of: path) ?? owner
        let successor = try next.key(making: true)
        try reseal([successor, current] + (try predecessors()))
        let isKept = link(path, "\(path).old.\(current.name.hex)") == 0 || errno == EEXIST
        if !isKept || rename(next.path, path) != 0 {
            throw fault(systemReason)
        }
        syncFolder(of: path)
    }

    /// Returns the key. Creates a missing key if `making` is true.
    func key(making: Bool) throws(CommandEnd) -> SecretKey {
        if let key = try read() { return key }
        if !making {
            throw fault(
                "it is missing; restore the file, or if it is lost for good, run: deed secret rotate --lost"
            )
        }
        try make()
        guard let key = try read() else { throw fault("it disappeared as soon as it was created") }
        return key
    }

    /// Returns the key, or `nil` if it was never created.
    private func read() throws(CommandEnd) -> SecretKey? {
        // The data folder's owner could place links there that lead root elsewhere.
        let isGuarded = folder != nil && getuid() == 0
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC
        let descriptor = open(path, isGuarded ? flags | O_NOFOLLOW : flags)
        if descriptor < 0, errno == ENOENT { return nil }
        if descriptor < 0, isGuarded, errno == ELOOP { throw fault(SecretKeyFile.linkReason) }
        if descriptor < 0, errno == EACCES { throw unreadable(by: ServiceUser(id: geteuid())) }
        if descriptor < 0 { throw fault(systemReason) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw fault("it is not a regular file")
        }
        if status.st_mode & 0o077 != 0 {
            // A pasted chmod would follow a link that has replaced the file in the meantime.
            let command = folder == nil ? "chmod 600 \(path)" : "deed doctor --only key_open --fix"
            throw fault("users other than its owner may use it; run: \(command)")
        }
        var text = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &text, text.count)
        let digits = text.prefix(max(count, 0)).filter { $0 != UInt8(ascii: "\n") }
        guard
            let key = [UInt8](hex: String(decoding: digits, as: UTF8.self)).flatMap(SecretKey.init)
        else {
            throw fault("it does not hold 64 hexadecimal digits; restore the file from a backup")
        }
        return key
    }

    /// Throws if the key exists but the service's user may not read it. Otherwise, this would come to light only
    /// when the service first opens credentials.
    func check(readableFor user: ServiceUser) throws(CommandEnd) {
        if access(path, R_OK) == 0 || errno != EACCES { return }
        throw unreadable(by: user)
    }

    private func unreadable(by user: ServiceUser?) -> CommandEnd {
        let name = user?.name ?? "the user \(geteuid())"
        return fault(
            "it is unreadable by \(name); as root, run: chown -h \(user?.name ?? String(geteuid())) \(path); "
                + "and let that user enter the file's folder")
    }

    /// Returns a file's owner, or `nil` if the file is missing or belongs to root.
    private func owner(of path: String) -> ServiceUser? {
        var found = stat()
        return stat(path, &found) == 0 && found.st_uid != 0 ? ServiceUser(id: found.st_uid) : nil
    }

    /// Creates the file complete and in one step, so that two processes end up with the same key.
    private func make() throws(CommandEnd) {
        if let folder { mkdir(folder, 0o755) }
        let draft = "\(path).\(randomBytes(8).hex)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw fault(systemReason) }
        if let owner, getuid() == 0 {
            fchown(descriptor, owner.id, owner.group)
        } else {
            giveToOwner(of: path, descriptor)
        }
        defer { unlink(draft) }
        let text = Array((randomBytes(SecretKey.byteCount).hex + "\n").utf8)
        let isWritten = write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
        close(descriptor)
        if !isWritten { throw fault("it cannot be written") }
        if link(draft, path) != 0, errno != EEXIST { throw fault(systemReason) }
        syncFolder(of: path)
    }

    /// Makes the file unusable by users other than its owner. Follows no link, and changes no file that has another
    /// name, because root could otherwise be made to change a file elsewhere.
    func closeToOthers() throws(CommandEnd) {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0, errno == ELOOP { throw fault(SecretKeyFile.linkReason) }
        if descriptor < 0 { throw fault(systemReason) }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG,
            found.st_nlink == 1
        else { throw fault("it is not a regular file with a single name") }
        if fchmod(descriptor, 0o600) != 0 { throw fault(systemReason) }
    }

    private static let linkReason =
        "it is a symbolic link, which root does not follow there; put the file itself in its place"

    private func fault(_ reason: String) -> CommandEnd {
        .fault("The installation's key in \(path) cannot be used: \(reason).")
    }
}

extension Option {
    static let secretKeyFile = setting(
        "secret-key-file", "FILE",
        "the installation's key, created when first needed (default: secret.key in the data "
            + "folder)")
}

extension Invocation {
    /// Returns the installation's key. Creates it if `making` is true. Verifying signatures requires an existing key.
    func secretKey(making: Bool) throws(CommandEnd) -> SecretKey {
        try secretKeyFile.key(making: making)
    }

    /// Returns the key for signing. Creates a missing key, unless sealed data shows that a key existed and was lost.
    func signingKey() throws(CommandEnd) -> SecretKey {
        if fileExists(secretKeyFile.path) { return try secretKey(making: false) }
        let database = try database()
        defer { database.leave() }
        return try secretKey(making: !hasSealed(database))
    }

    /// Returns whether any data is sealed; true if in doubt, because an earlier release's schema
    /// may lack the tables.
    private func hasSealed(_ database: Database) -> Bool {
        var view = OperatorsView(database.serviceConnection)
        if let found = try? view.hasSealed() { return found }
        var schema = Schema(database.connection(role: nil))
        return (try? schema.found()) != 0
    }

    /// Returns the installation's key and its predecessors, for verifying signatures.
    func secretKeys() throws(CommandEnd) -> [SecretKey] {
        try secretKeyFile.keys(making: false)
    }

    var secretKeyFile: SecretKeyFile {
        let folder = Settings(self).dataFolder
        return self["secret-key-file"].map {
            SecretKeyFile(path: $0, owner: DataFolder.user(of: folder))
        } ?? SecretKeyFile(path: "\(folder)/secret.key", folder: folder)
    }
}

extension SecretKeyFile {
    /// Works like `keys`, but throws an error that contains only the reason.
    func ring(making: Bool) throws(KeyTrouble) -> [SecretKey] {
        do throws(CommandEnd) {
            return try keys(making: making)
        } catch {
            throw KeyTrouble(sentence: error.sentence)
        }
    }
}
