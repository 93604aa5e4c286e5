import API
import Core
import HTTPServer
import Service
import Synchronization

/// Identifies visitors by their cookie, and checks where forms were sent from.
final class Doorkeeper: Sendable {
    /// How many recently valid cookies are remembered.
    private static let limit = 1000

    let signIns: SignIns
    let calls: InnerCalls
    /// Counts and logs attempts to sign in.
    let refused: RefusedSignIns
    let heavyPages = HeavyPages()
    private let speaksTLS: Bool
    /// Recently valid cookies. They are used only to choose the queue in which a visitor waits.
    private let seen = Mutex<Set<String>>([])

    init(
        _ signIns: SignIns, _ calls: InnerCalls, _ refused: RefusedSignIns, speaksTLS: Bool
    ) {
        self.signIns = signIns
        self.calls = calls
        self.refused = refused
        self.speaksTLS = speaksTLS
    }

    /// Whether the browser uses HTTPS, either with Deed itself or with a trusted proxy.
    private func isSecure(_ visit: Visit) -> Bool { speaksTLS || visit.way == .proxy }

    /// Throws if others could read the request in transit.
    func requirePrivacy(_ visit: Visit) throws(Turned) {
        if !isSecure(visit), visit.way == .network { throw .readable }
    }

    /// The cookie's name. Browsers accept the prefix only together with `Secure`, which does not work over plain HTTP.
    private func cookieName(_ visit: Visit) -> String {
        isSecure(visit) ? "__Host-deed" : "deed-console"
    }

    func cookie(of visit: Visit) -> String? { visit.cookie(cookieName(visit)) }

    /// Tells the browser to keep the cookie until the browser is closed, or to delete it.
    func setCookie(_ value: String?, for visit: Visit) -> Header {
        Header(
            "Set-Cookie",
            "\(cookieName(visit))=\(value ?? ""); Path=/; HttpOnly; SameSite=Strict"
                + (isSecure(visit) ? "; Secure" : "") + (value == nil ? "; Max-Age=0" : ""))
    }

    /// The room in which the visitor waits. Visitors who are signed in do not wait behind strangers.
    func room(of visit: Visit) -> Room {
        guard let cookie = cookie(of: visit) else { return .strangers }
        return seen.withLock { $0.contains(cookie) } ? .known : .strangers
    }

    /// Throws unless the visitor is signed in.
    func visitor(of visit: Visit) throws(Turned) -> Visitor {
        guard let cookie = cookie(of: visit) else { throw .signIn }
        let found: SignedIn?
        do throws(Fault) {
            found = try signIns.session(cookie)
        } catch {
            throw .problem(Problem(error))
        }
        seen.withLock { seen in
            seen.remove(cookie)
            if found == nil { return }
            if seen.count >= Doorkeeper.limit { seen = [] }
            seen.insert(cookie)
        }
        guard let found else { throw .signIn }
        return Visitor(signedIn: found, formToken: signIns.formToken(of: cookie))
    }

    /// Throws unless the visitor has a role in the project.
    func room(
        for visitor: Visitor, in project: String
    ) throws(Turned) -> ProjectRoom {
        guard let project = try? ProjectID(project),
            let role = visitor.signedIn.role(in: project)
        else { throw .notYours }
        return ProjectRoom(
            visitor: visitor,
            caller: PersonCaller(
                person: visitor.signedIn.person, project: project, role: role), keeper: self)
    }

    /// Throws unless the form was sent from a page at this address. The browser states where a form comes from, and
    /// pages cannot forge that.
    func requireOwnPage(_ visit: Visit) throws(Turned) {
        if let site = visit.header("Sec-Fetch-Site") {
            guard site == "same-origin" else { throw .noForm }
            return
        }
        guard let origin = visit.header("Origin"), let host = visit.header("Host") else {
            throw .noForm
        }
        let scheme = isSecure(visit) ? "https" : "http"
        guard origin == "\(scheme)://\(host)" else { throw .noForm }
    }

    /// Throws unless the form contains the token of the visitor's session.
    func requireToken(_ fields: Fields, of visitor: Visitor) throws(Turned) {
        let (given, own) = (Array((fields["form"] ?? "").utf8), Array(visitor.formToken.utf8))
        var difference = given.count ^ own.count
        for place in 0..<min(given.count, own.count) {
            difference |= Int(given[place] ^ own[place])
        }
        guard difference == 0 else { throw .noForm }
    }
}
