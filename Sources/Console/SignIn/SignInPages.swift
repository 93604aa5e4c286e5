import API
import Core
import HTTPServer
import Service

/// The pages on which people sign in and out.
struct SignInPages: Sendable {
    let keeper: Doorkeeper

    func form(_ visit: Visit) throws(Turned) -> Response {
        page(next: SignInPages.safe(Fields(visit.query)["next"])).response()
    }

    private func page(next: String?, email: String = "", trouble: String? = nil) -> Page {
        let alert = Markup.alert(trouble)
        // For visitors who are signed in after all: browsers do not send the cookie when a link on
        // another site is followed.
        let again: Markup =
            next.map {
                """
                <p>Already signed in, and came here by a link from another page?
                <a href="\(value: $0)">Open the page</a></p>
                """
            } ?? .nothing
        return Page(
            title: "Sign in",
            content: """
                \(alert)
                <form class="card" method="post" action="\(value: Place.signIn.text)">
                <input type="hidden" name="next" value="\(value: next ?? "")">
                <p><label for="email">E-mail address</label>
                <input id="email" name="email" type="email" required maxlength="254" autocomplete="username" value="\(value: email)"></p>
                <p><label for="password">Password</label>
                <input id="password" name="password" type="password" required autocomplete="current-password"></p>
                <p><button>Sign in</button></p>
                </form>
                \(again)
                """)
    }

    func signIn(_ visit: Visit) throws(Turned) -> Response {
        try keeper.requireOwnPage(visit)
        let fields = Fields(form: visit.body)
        let email = fields.trimmed("email") ?? ""
        let outcome = try asking { () throws(Fault) in
            try keeper.signIns.signIn(
                email, fields["password"] ?? "", from: visit.client?.description ?? "")
        }
        keeper.note(outcome, of: visit)
        let next = SignInPages.safe(fields["next"])
        switch outcome {
        case .signedIn(let cookie): return try keeper.enter(cookie, next, visit)
        case .needsCode(let cookie):
            return .seeOther(
                Place.code.with("next", next), headers: [keeper.setBegunCookie(cookie, for: visit)])
        case .wrong, .tooManyTries, .tooManyCodes, .busy, .over:
            let told = outcome.refusal ?? (403, SignInPages.wrong, [])
            return page(next: next, email: email, trouble: told.sentence)
                .response(status: told.status, headers: told.headers)
        }
    }

    private static let wrong =
        "The address or the password is wrong. Check both, and try again."

    func signOut(_ visit: Visit) throws(Turned) -> Response {
        try keeper.requireOwnPage(visit)
        let visitor = try keeper.visitor(of: visit, isSettingUp: true)
        try keeper.requireToken(Fields(form: visit.body), of: visitor)
        if let cookie = keeper.cookie(of: visit) {
            try asking { () throws(Fault) in try keeper.signIns.signOut(cookie) }
        }
        return .seeOther(.signIn, headers: [keeper.setCookie(nil, for: visit)])
    }

    /// Returns the address, or `nil` if it is outside the console. Signing in must not redirect elsewhere.
    static func safe(_ next: String?) -> String? {
        guard let next, next == Place.prefix || next.hasPrefix(Place.prefix + "/"),
            !next.contains(".."),
            next.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return next
    }
}

/// The page on which a person who followed a link chooses a password.
struct LinkPages: Sendable {
    let keeper: Doorkeeper

    func form(_ visit: Visit) throws(Turned) -> Response {
        let secret = visit.arguments[0]
        return try page(secret, trouble: nil).response()
    }

    private func page(_ secret: String, trouble: String?) throws(Turned) -> Page {
        let email = try asking { () throws(Fault) in
            try keeper.signIns.email(behindLink: secret)
        }
        guard let email else { throw LinkPages.over }
        let alert = Markup.alert(trouble)
        let least = SignIns.passwordLengths.lowerBound
        return Page(
            title: "Choose a password",
            content: """
                \(alert)
                <form class="card" method="post" action="\(value: Place(["link", secret]).text)">
                <p>For \(email.text). A password has at least \(least) characters; a few unrelated words work well.</p>
                <input type="hidden" name="email" autocomplete="username" value="\(value: email.text)">
                <p><label for="password">Password</label>
                <input id="password" name="password" type="password" required minlength="\(least)" autocomplete="new-password"></p>
                <p><label for="again">Repeat the password</label>
                <input id="again" name="again" type="password" required minlength="\(least)" autocomplete="new-password"></p>
                <p><button>Keep it</button></p>
                </form>
                """)
    }

    func choose(_ visit: Visit) throws(Turned) -> Response {
        try keeper.requireOwnPage(visit)
        let secret = visit.arguments[0]
        let fields = Fields(form: visit.body)
        let password = fields["password"] ?? ""
        guard password == fields["again"] ?? "" else {
            return try again(secret, "The two passwords differ. Enter the same password twice.")
        }
        let outcome = try asking { () throws(Fault) in
            try keeper.signIns.choose(password, byLink: secret)
        }
        switch outcome {
        case .chosen: return .seeOther(.signIn)
        case .linkOver: throw LinkPages.over
        case .tooShort:
            return try again(
                secret,
                "The password is too short; use \(SignIns.passwordLengths.lowerBound) characters or more."
            )
        case .tooLong:
            return try again(
                secret,
                "The password is too long; use at most \(SignIns.passwordLengths.upperBound) bytes."
            )
        case .busy: return try again(secret, "Other people are signing in. Try again in a second.")
        }
    }

    private func again(_ secret: String, _ trouble: String) throws(Turned) -> Response {
        try page(secret, trouble: trouble).response(status: 400)
    }

    private static let over = Turned.notice(
        404, "The link no longer works",
        "A link works once, within an hour. An operator can make another one with: deed person reset"
    )
}

/// Returns the database's answer. After a fault, turns the visitor away.
func asking<Answer>(_ answer: () throws(Fault) -> Answer) throws(Turned) -> Answer {
    do throws(Fault) {
        return try answer()
    } catch {
        throw .problem(Problem(error))
    }
}
