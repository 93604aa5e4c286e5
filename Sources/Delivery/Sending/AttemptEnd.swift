internal import Core
internal import JSON
internal import Outbound

/// The outcome of an attempt.
package struct AttemptEnd: Sendable {
    /// The longest pause that a receiver can ask for, in milliseconds.
    static let longestRest: Int64 = 86_400_000

    package let status: Int?
    package let error: String?
    package let answer: String
    let retryAfter: Int64?

    /// Creates the outcome from an answer. Hides the values of the webhook's fixed headers where the answer repeats
    /// them.
    init(_ answer: SafeGate.Answer, hiding headers: [String], at now: Instant) {
        switch answer {
        case .failure(let failure):
            (status, error, self.answer, retryAfter) = (nil, failure.description, "", nil)
        case .success(let response):
            status = response.status
            let isMoved = (300..<400).contains(response.status)
            error =
                isMoved ? "the receiver answered with a redirect, which Deed never follows" : nil
            let shown = hide(headers, in: response.body).prefix(WebhookAttempt.answerLimit)
            self.answer = String(decoding: shown, as: UTF8.self).replacing("\0", with: "\u{FFFD}")
            let wants = [429, 503].contains(response.status) ? response.header("Retry-After") : nil
            retryAfter = wants.flatMap { Int64($0) ?? secondsUntil($0, from: now) }
                .map { min(max($0, 0), AttemptEnd.longestRest / 1000) * 1000 }
        }
    }

    package var isDelivered: Bool { status.map { (200..<300).contains($0) } ?? false }
}

/// Replaces each value, its JSON forms and its long words in the body with stars. A receiver may repeat a token without
/// the word before it, so the long words are also hidden on their own.
private func hide(_ values: [String], in body: [UInt8]) -> [UInt8] {
    let words = values.flatMap { value -> [String] in
        [value] + value.split(separator: " ").filter { $0.utf8.count >= 8 }.map(String.init)
    }
    let forms = words.flatMap { word -> [[UInt8]] in
        let coded = Array(JSON.string(word).bytes.dropFirst().dropLast())
        // Also hides the form with escaped slashes, which some programs write.
        return [Array(word.utf8), coded, coded.replacing([0x2F], with: [0x5C, 0x2F])]
    }
    return forms.sorted { $0.count > $1.count }.reduce(body) { body, form in
        form.isEmpty ? body : body.replacing(form, with: Array("***".utf8))
    }
}

/// Returns the seconds until an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`, or `nil` for any other text.
private func secondsUntil(_ text: String, from now: Instant) -> Int64? {
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let parts = text.split(separator: " ")
    guard parts.count == 6, let month = months.firstIndex(of: String(parts[2])) else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    let instant = Instant(text: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    return instant.map { ($0.milliseconds - now.milliseconds) / 1000 }
}
