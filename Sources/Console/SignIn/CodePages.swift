import API
import Core
import HTTPServer
import Service

/// The pages of the second sign-in step: a code after the password.
struct CodePages: Sendable {
    let keeper: Doorkeeper

    func form(_ visit: Visit) throws(Turned) -> Response {
        let next = SignInPages.safe(Fields(visit.query)["next"])
        let isAwaited = try keeper.begunCookie(of: visit).map { cookie throws(Turned) in
            try asking { () throws(Fault) in try keeper.signIns.awaitsCode(cookie) }
        }
        guard isAwaited == true else { return .seeOther(Place.signIn.with("next", next)) }
        return page(next: next).response()
    }

    private func page(next: String?, trouble: String? = nil) -> Page {
        let alert = Markup.alert(trouble)
        return Page(
            title: "Enter a code",
            content: """
                \(alert)
                <form class="card" method="post" action="\(value: Place.code.text)">
                <input type="hidden" name="next" value="\(value: next ?? "")">
                <p>The app in which you set up the second factor shows the code. Without the app, use one of your emergency codes.</p>
                \(Markup.codeField(label: "Code"))
                <p><button>Sign in</button></p>
                </form>
                <p>\(Markup.link(.signIn, "Start again"))</p>
                """)
    }

    func finish(_ visit: Visit) throws(Turned) -> Response {
        try keeper.requireOwnPage(visit)
        guard let begun = keeper.begunCookie(of: visit) else { throw CodePages.over }
        let fields = Fields(form: visit.body)
        let outcome = try asking { () throws(Fault) in
            try keeper.signIns.finish(
                begun, fields["code"] ?? "", from: visit.client?.description ?? "")
        }
        keeper.note(outcome, of: visit)
        let next = SignInPages.safe(fields["next"])
        switch outcome {
        case .signedIn(let cookie): return try keeper.enter(cookie, next, visit)
        case .over, .needsCode: throw CodePages.over
        case .wrong, .tooManyTries, .tooManyCodes, .busy:
            let told = outcome.refusal ?? (403, CodePages.wrong, [])
            return page(next: next, trouble: told.sentence)
                .response(status: told.status, headers: told.headers)
        }
    }

    static let wrong =
        "The code is wrong, or was used before. Wait until the app shows another one, or use an emergency code."

    private static let over = Turned.notice(
        401, "Sign in again",
        "Enter the code within five minutes of the password. Start again with the password.")
}

extension Markup {
    /// Returns the field for a code or an emergency code.
    static func codeField(label: String) -> Markup {
        """
        <p><label for="code">\(label)</label>
        <input id="code" name="code" required maxlength="64" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"></p>
        """
    }
}

extension Doorkeeper {
    func note(_ outcome: SignInOutcome, of visit: Visit) {
        guard let noted = outcome.noted else { return }
        var person: PersonID?
        if case .tooManyCodes(let found) = outcome { person = found }
        refused.note(noted, of: person, from: visit.client)
    }
}

extension SignInOutcome {
    fileprivate var noted: RefusedSignIns.Outcome? {
        switch self {
        case .signedIn: .signedIn
        case .needsCode: .needsCode
        case .wrong: .wrong
        case .tooManyTries, .tooManyCodes: .tooManyTries
        case .busy: .busy
        case .over: nil
        }
    }

    /// What to tell a person who has to wait.
    var refusal: (status: Int, sentence: String, headers: [Header])? {
        switch self {
        case .tooManyTries, .tooManyCodes:
            (
                429, "There were too many attempts. Wait a quarter of an hour, and try again.",
                [Header("Retry-After", "900")]
            )
        case .busy:
            (
                503, "Other people are signing in. Try again in a second.",
                [Header("Retry-After", "1")]
            )
        case .signedIn, .needsCode, .wrong, .over: nil
        }
    }
}
