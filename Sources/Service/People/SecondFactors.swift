package import Core
import Wording

/// A secret for a second factor, shown to a person. It takes effect once the person enters one of
/// its codes.
package struct SecondFactorOffer: Sendable {
    let secret: [UInt8]
    /// The secret in the form that apps read.
    package var text: String { base32(secret) }
    /// The sealed secret, which the person's form sends back. Only this session can use it.
    package let sealed: String
}

/// People's second factors: codes from an app, and emergency codes for people who have lost the
/// app. Each code is accepted once.
package struct SecondFactors: Sendable {
    private static let emergencyCodes = 10
    private static let secretBytes = 20
    private static let stepLength: Int64 = 30_000
    /// How long an offer is valid, in milliseconds.
    private static let offerLife: Int64 = 15 * 60_000

    let keeping: any SecondFactorKeeping
    let sealing: any SecondFactorSealing
    let secrets: Secrets
    let machineClock: @Sendable () -> Instant

    /// Returns how many emergency codes the person has left; `nil` without a second factor.
    package func emergencyCodesLeft(of person: PersonID) throws(Fault) -> Int? {
        try keeping.secondFactors(of: person).first?.emergencyCodes
    }

    /// Returns whether the code is so short that it could be guessed. An emergency code, with its
    /// 80 random bits, could not.
    static func isShort(_ text: String) -> Bool { plain(text).count <= 6 }

    /// Accepts a current code or an emergency code of the person. Neither can be used again.
    func accept(_ text: String, of person: PersonID) throws(Fault) -> Bool {
        guard let factor = try keeping.secondFactors(of: person).first else { return false }
        let code = SecondFactors.plain(text)
        guard SecondFactors.isShort(text) else {
            return try keeping.useEmergencyCode(digest(code, person), of: person)
        }
        guard
            let secret = try sealing.open(
                factor.secret.bytes, for: SecondFactors.place(of: person))
        else {
            throw .broken(
                Remedy.resetSecondFactor.after(
                    "the second factor of \(person) does not open with the installation's key"))
        }
        guard let step = step(of: code, secret) else { return false }
        return try keeping.useCode(of: step, factor)
    }

    /// Shows a new secret to a person in the session with this cookie. The secret takes effect once the person has
    /// entered one of its codes.
    package func offer(
        to person: PersonID, in cookie: String
    ) throws(Fault) -> SecondFactorOffer {
        let secret = secrets.randomBytes(SecondFactors.secretBytes)
        let end = machineClock().advanced(byMilliseconds: SecondFactors.offerLife).milliseconds
        let place = try offerPlace(person, cookie)
        let sealed = try sealing.seal(secret + Array("\(end)".utf8), for: place)
        return SecondFactorOffer(secret: secret, sealed: sealed.bytes.hexDigits)
    }

    /// Returns the offer that a form sent back; `nil` if it has expired, if it was made to another session, or if the
    /// second factor has changed since.
    package func offer(
        _ text: String, to person: PersonID, in cookie: String
    ) throws(Fault) -> SecondFactorOffer? {
        guard let sealed = [UInt8](hexDigits: text),
            let opened = try sealing.open(sealed, for: offerPlace(person, cookie)),
            let end = Int64(
                String(decoding: opened.dropFirst(SecondFactors.secretBytes), as: UTF8.self)),
            machineClock().milliseconds < end
        else { return nil }
        return SecondFactorOffer(
            secret: Array(opened.prefix(SecondFactors.secretBytes)), sealed: text)
    }

    /// Makes the offered secret the person's second factor, and ends all other sessions. Returns
    /// the emergency codes, which cannot be retrieved again, or `nil` if the code is wrong.
    package func take(
        _ offer: SecondFactorOffer, proving code: String, by person: PersonID, in cookie: String
    ) throws(Fault) -> [String]? {
        guard let step = step(of: SecondFactors.plain(code), offer.secret) else { return nil }
        let place = SecondFactors.place(of: person)
        let factor = SealedFactor(
            person: person, secret: try sealing.seal(offer.secret, for: place), step: step)
        let codes = newCodes()
        let isPut = try keeping.put(
            factor, emergencyCodes: digests(codes, person), in: session(cookie))
        return isPut ? codes : nil
    }

    /// Replaces the person's emergency codes, and returns the new ones.
    package func renewEmergencyCodes(of person: PersonID) throws(Fault) -> [String] {
        let codes = newCodes()
        try keeping.putEmergencyCodes(digests(codes, person), of: person)
        return codes
    }

    /// Removes the second factor of a person who has lost it.
    func remove(of person: PersonID) throws(Fault) {
        _ = try keeping.forgetSecondFactor(of: person, in: nil)
    }

    /// Removes the person's second factor. Returns false, and keeps it, if another session set it up in the meantime.
    package func remove(of person: PersonID, in cookie: String) throws(Fault) -> Bool {
        try keeping.forgetSecondFactor(of: person, in: session(cookie))
    }

    /// Returns the step to which the code belongs. The steps just before and after the current one are also
    /// accepted, because clocks differ.
    private func step(of code: String, _ secret: [UInt8]) -> Int64? {
        let current = machineClock().milliseconds / SecondFactors.stepLength
        return (current - 1...current + 1).last {
            fits(Array(sealing.code(of: $0, secret).utf8), Array(code.utf8))
        }
    }

    /// Returns new emergency codes, each made of four groups of four characters. Their 80 random bits make it
    /// impossible to find a code from its digest. No letter looks or sounds like another character.
    private func newCodes() -> [String] {
        (0..<SecondFactors.emergencyCodes).map { _ in
            let text = Array(secrets.randomText(bytes: 10))
            return stride(from: 0, to: text.count, by: 4)
                .map { String(text[$0..<min($0 + 4, text.count)]) }.joined(separator: "-")
        }
    }

    private func digests(_ codes: [String], _ person: PersonID) -> [[UInt8]] {
        codes.map { digest(SecondFactors.plain($0), person) }
    }

    private func digest(_ code: String, _ person: PersonID) -> [UInt8] {
        secrets.digest(Array("emergency code \(person.text) \(code)".utf8))
    }

    /// Returns the code without spaces and hyphens. A person may read a zero as an `o`, or a one as an `i` or `l`.
    private static func plain(_ code: String) -> String {
        let letters = code.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return String(
            letters.map { letter in
                switch letter {
                case "o": "0"
                case "i", "l": "1"
                default: letter
                }
            })
    }

    /// Binds a sealed secret to its person, so that it cannot be opened in another person's row.
    package static func place(of person: PersonID) -> String { "second factor \(person.text)" }

    /// Binds an offer to the person, the session, and the second factor that it would replace.
    private func offerPlace(_ person: PersonID, _ cookie: String) throws(Fault) -> String {
        let factor = try keeping.secondFactors(of: person).first?.secret.bytes.hexDigits
        return "offered second factor \(person.text) \(session(cookie).hexDigits) \(factor ?? "")"
    }

    private func session(_ cookie: String) -> [UInt8] { secrets.digest(Array(cookie.utf8)) }
}
