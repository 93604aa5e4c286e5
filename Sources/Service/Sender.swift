package import Core

/// The sender of a command, with an optional key for sending it again.
package struct Sender: Sendable {
    package static let idempotencyKeyLimit = 200

    package let actor: Actor
    /// Printable and at most `idempotencyKeyLimit` bytes long.
    package let idempotencyKey: String?

    package init(actor: Actor, idempotencyKey: String?) {
        self.actor = actor
        self.idempotencyKey = idempotencyKey
    }
}

extension Secrets {
    /// The cause of a command: the sender's idempotency key, or a unique one.
    ///
    /// The digest covers the sender's request, so one key cannot stand for two requests.
    func cause(of sender: Sender, _ command: StaticString, _ arguments: [String?]) -> Cause {
        var bytes = Array("\(command)".utf8)
        for argument in arguments {
            // A length prefix separates neighbours. A missing argument has none.
            bytes.append(0)
            guard let argument else { continue }
            bytes.append(contentsOf: "\(argument.utf8.count):".utf8)
            bytes.append(contentsOf: argument.utf8)
        }
        let text = sender.idempotencyKey.map { "key:\($0)" } ?? "command:\(randomText(bytes: 16))"
        return Cause(text: text, digest: digest(bytes))
    }

    /// A unique identifier that is impossible to guess.
    func newID<Kind>(prefix: StaticString) -> Identifier<Kind> {
        Identifier(prefix: prefix, random: randomText(bytes: 12))
    }

    /// Random letters and digits, five bits each.
    func randomText(bytes count: Int) -> String {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        return String(
            decoding: randomBytes(count * 8 / 5).map { alphabet[Int($0 % 32)] }, as: UTF8.self)
    }
}
