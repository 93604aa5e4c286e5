package import Core

/// The sender of a command, with an optional key under which the command can be sent again.
package struct Sender: Sendable {
    package static let idempotencyKeyLimit = 200

    package let actor: Actor
    /// A printable text of at most `idempotencyKeyLimit` bytes.
    package let idempotencyKey: String?

    package init(actor: Actor, idempotencyKey: String?) {
        self.actor = actor
        self.idempotencyKey = idempotencyKey
    }
}

extension Secrets {
    /// Returns the cause of a command: either the sender's idempotency key or a unique string.
    ///
    /// The digest covers the sender's request, so that two different requests cannot share one key.
    func cause(of sender: Sender, _ command: StaticString, _ arguments: [String?]) -> Cause {
        var bytes = Array("\(command)".utf8)
        for argument in arguments {
            // Each argument follows its length, which separates it from the next one. A missing
            // argument is written without a length.
            bytes.append(0)
            guard let argument else { continue }
            bytes.append(contentsOf: "\(argument.utf8.count):".utf8)
            bytes.append(contentsOf: argument.utf8)
        }
        let text = sender.idempotencyKey.map { "key:\($0)" } ?? "command:\(randomText(bytes: 16))"
        return Cause(text: text, digest: digest(bytes))
    }

    /// Returns a unique identifier that cannot be guessed.
    func newID<Kind>(prefix: StaticString) -> Identifier<Kind> {
        Identifier(prefix: prefix, random: randomText(bytes: 12))
    }

    /// Returns a random string of letters and digits, each representing five bits.
    func randomText(bytes count: Int) -> String {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        return String(
            decoding: randomBytes(count * 8 / 5).map { alphabet[Int($0 % 32)] }, as: UTF8.self)
    }
}
