internal import Core
import Crypto
import Foundation
package import JSON
package import Minting

/// Signs the practice store's statements under its own roots. The roots are created at the first start and kept, so
/// that evidence can be verified as long as the folder exists.
package struct Authority: Sendable {
    package let receipts: MintedChain
    package let transactions: MintedChain
    /// The key with which back ends sign their tokens, its id, and its issuer.
    package let apiKey: MintedKey
    package let keyID: String
    package let issuer: String

    /// A lifetime that covers every time that the test clock can show.
    fileprivate static let lifetime =
        Instant(milliseconds: 946_684_800_000)...Instant(milliseconds: 4_070_908_800_000)

    /// Creates a chain for each kind of evidence, and a key for the server API.
    package init() {
        receipts = .practice(.receipts, "receipts")
        transactions = .practice(.transactions, "transactions")
        apiKey = MintedKey(.p256)
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        keyID = String(randomBytes(10).map { letters[Int($0) % letters.count] })
        let hex = randomBytes(16).hex
        let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        issuer = cuts.map { String(Array(hex)[$0]) }.joined(separator: "-")
    }

    /// Returns the payload in signed form.
    package func sign(_ payload: JSON) -> String {
        SignedJSONPlan(payload, chain: transactions).text
    }

    /// Returns the payload with an invalid signature.
    package func spoil(_ payload: JSON) -> String {
        let plan = SignedJSONPlan(payload, chain: transactions)
        return plan.text(signature: transactions.leaf.key.signRaw(Array("something else".utf8)))
    }
}

extension MintedChain {
    fileprivate static func practice(_ kind: Kind, _ name: String) -> MintedChain {
        func plan(_ plan: CertificatePlan, _ place: String) -> CertificatePlan {
            var plan = plan
            plan.name = "Deed Practice Store \(place) (\(name))"
            plan.notBefore = Authority.lifetime.lowerBound
            plan.notAfter = Authority.lifetime.upperBound
            plan.hasKeyIdentifiers = true
            return plan
        }
        return MintedChain(
            kind, root: plan(.root, "Root"), intermediate: plan(.intermediate, "Authority"),
            leaf: plan(.leaf, "Signing"))
    }
}

extension Authority {
    /// Reads the authority from a folder, or creates one and saves it there. `roots/` is for
    /// services that should trust the store, `keys/` for back ends, and `private/` only for the
    /// store.
    package init(in folder: DataFolder) throws(PracticeError) {
        if let kept = try Authority(keptIn: folder) {
            self = kept
            return
        }
        self.init()
        try folder.write("private/receipts.pem", receipts.text, isSecret: true)
        try folder.write("private/transactions.pem", transactions.text, isSecret: true)
        try folder.write("roots/receipts.pem", receipts.root.pem)
        try folder.write("roots/transactions.pem", transactions.root.pem)
        try folder.write("keys/issuer", issuer + "\n")
        // Written last, because the folder counts as new without this file.
        try folder.write("keys/AuthKey_\(keyID).p8", apiKey.pem, isSecret: true)
    }

    private init?(keptIn folder: DataFolder) throws(PracticeError) {
        let name = folder.names(in: "keys").first { $0.hasPrefix("AuthKey_") }
        guard let name else { return nil }
        guard let receipts = MintedChain(text: try folder.read("private/receipts.pem")),
            let transactions = MintedChain(text: try folder.read("private/transactions.pem")),
            let apiKey = MintedKey(pem: try folder.read("keys/\(name)"))
        else {
            throw .broken("the keys in \(folder.path) cannot be read; start in a new folder")
        }
        self.receipts = receipts
        self.transactions = transactions
        self.apiKey = apiKey
        keyID = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        issuer = try folder.read("keys/issuer").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A chain as text: the leaf's key, the leaf's certificate, and the certificates above it.
extension MintedChain {
    fileprivate var text: String { leaf.key.pem + certificates.map(\.pem).joined() }

    fileprivate init?(text: String) {
        let end = "-----END CERTIFICATE-----"
        let parts = text.components(separatedBy: "-----BEGIN CERTIFICATE-----")
        let ders = parts.dropFirst().compactMap { part in
            part.components(separatedBy: end).first.flatMap { body in
                Base64.standard.decode(Array(body.utf8.filter { $0 > 0x20 }))
            }
        }
        guard ders.count == 3, let key = parts.first.flatMap(MintedKey.init(pem:)) else {
            return nil
        }
        // From now on, only the leaf signs. The other keys were deliberately not kept.
        let made = ders.map { MintedCertificate(der: $0, key: key, name: "") }
        self.init(root: made[2], intermediate: made[1], leaf: made[0])
    }
}

/// The folder in which the store keeps all its data.
package struct DataFolder: Sendable {
    package let path: String

    package init(_ path: String) throws(PracticeError) {
        self.path = path
        for name in ["", "roots", "keys", "private"] {
            // A Deed service that runs as a different user can read only the roots.
            let mode = name == "roots" ? 0o755 : name.isEmpty ? 0o711 : 0o700
            do {
                try FileManager.default.createDirectory(
                    atPath: "\(path)/\(name)", withIntermediateDirectories: true,
                    attributes: [.posixPermissions: mode])
            } catch {
                throw .broken("\(path) cannot be created: \(error.localizedDescription)")
            }
        }
    }

    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []).sorted()
    }

    package func holds(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(path)/\(name)")
    }

    package func bytes(_ name: String) throws(PracticeError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else {
            throw .broken("\(path)/\(name) cannot be read; check its owner and permissions")
        }
        return Array(data)
    }

    func read(_ name: String) throws(PracticeError) -> String {
        String(decoding: try bytes(name), as: UTF8.self)
    }

    package func write(
        _ name: String, _ text: String, isSecret: Bool = false
    ) throws(PracticeError) {
        try write(name, Array(text.utf8), isSecret: isSecret)
    }

    /// Replaces the whole file or leaves it unchanged.
    package func write(
        _ name: String, _ bytes: [UInt8], isSecret: Bool = false
    ) throws(PracticeError) {
        let (file, draft) = ("\(path)/\(name)", "\(path)/\(name).new")
        let manager = FileManager.default
        try? manager.removeItem(atPath: draft)
        let isMade = manager.createFile(
            atPath: draft, contents: Data(bytes),
            attributes: [.posixPermissions: isSecret ? 0o600 : 0o644])
        guard isMade, rename(draft, file) == 0 else {
            throw .broken(
                "\(file) cannot be written; check its folder's permissions and free space")
        }
    }
}
