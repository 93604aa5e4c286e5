package import Core
internal import Crypto
internal import JSON

/// An answer from Google Play with its question, in the form in which Deed stores both. The answer
/// itself names neither the package nor the token.
package struct PlayAnswer: Hashable, Sendable {
    package let kind: EvidenceKind
    /// The exact bytes of the answer.
    package let body: [UInt8]
    package let app: AppID
    package let token: String
    /// The product in the question, if the older API was used.
    package let product: ProductID?
    /// The id of the chain of tokens; `nil` if the chain starts with this token.
    package let root: TransactionID?
    /// The instant on our clock before the question was sent.
    package let readAt: Instant

    package init(
        _ kind: EvidenceKind, body: [UInt8], app: AppID, token: String, product: ProductID?,
        root: TransactionID?, readAt: Instant
    ) {
        self.kind = kind
        self.body = body
        self.app = app
        self.token = token
        self.product = product
        self.root = root
        self.readAt = readAt
    }

    /// The stored form. Equal answers have equal stored forms.
    package var bytes: [UInt8] {
        let text = String(validating: body, as: UTF8.self)
        let json: JSON = ["kind": .string(kind.word), "package": .string(app.text)]
        return
            json
            .with("token", .string(token)).with("product", product.map { .string($0.text) })
            .with("root", root.map { .string($0.text) }).with("read_at", .string(readAt.text))
            .with("body", text.map(JSON.string))
            .with("body_base64", text == nil ? .string(base64) : nil).bytes
    }

    private var base64: String {
        String(decoding: Base64.standard.encode(body), as: UTF8.self)
    }

    package init(bytes: [UInt8]) throws(EvidenceRefusal) {
        let members = try PlayMembers(bytes)
        let word = try members.required("kind")
        guard let kind = EvidenceKind.play.first(where: { $0.word == word }),
            kind.proof == .connection
        else { throw .invalidMember("kind") }
        guard let readAt = try members.time("read_at") else { throw .invalidMember("read_at") }
        let encoded = try members.text("body_base64")
        let body =
            encoded.map { Base64.standard.decode(Array($0.utf8)) }
            ?? members.verbatim("body").map { Array($0.utf8) }
        guard let body else { throw .invalidMember("body") }
        self.init(
            kind, body: body, app: try members.requiredID("package"),
            token: try members.required("token"), product: try members.id("product"),
            root: try members.id("root"), readAt: readAt)
    }

    /// The answer, marked as fetched from Google by our own client.
    package var fetched: FetchedAnswer { FetchedAnswer(kind, body: bytes, host: nil) }
}

extension TransactionID {
    /// The id of a purchase that begins with the given token. It is a digest, because a token is sensitive and may be
    /// too long for an id.
    package init(playToken token: String) {
        let digest = SHA256.digest(Array(token.utf8)).bytes
        self.init(digits: Array(digest.prefix(16)).hexDigits)
    }
}

/// What a back end submits: a package, a token, and for some purchases a product.
struct PlayTokenNote {
    /// The maximum length of a token. Actual tokens have about 150 characters.
    static let tokenLimit = 4096

    let app: AppID
    let token: String
    let product: ProductID?

    init(_ bytes: [UInt8]) throws(EvidenceRefusal) {
        let members = try PlayMembers(bytes)
        app = try members.requiredID("package")
        token = try members.required("token")
        product = try members.id("product")
        guard token.utf8.count <= Self.tokenLimit,
            token.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { throw .invalidMember("token") }
    }

    var bytes: [UInt8] {
        let json: JSON = ["package": .string(app.text), "token": .string(token)]
        return json.with("product", product.map { .string($0.text) }).bytes
    }
}

extension PlayMembers {
    func id<Kind>(_ member: String) throws(EvidenceRefusal) -> Identifier<Kind>? {
        guard let text = try text(member) else { return nil }
        guard let id = try? Identifier<Kind>(text) else { throw .invalidMember(member) }
        return try id.short(in: member)
    }

    func requiredID<Kind>(_ member: String) throws(EvidenceRefusal) -> Identifier<Kind> {
        guard let id: Identifier<Kind> = try id(member) else { throw .invalidMember(member) }
        return id
    }

    /// Returns the text of a member, without the usual checks. It may contain anything, because it
    /// is parsed separately.
    func verbatim(_ member: String) -> String? { object[member]?.string }
}
