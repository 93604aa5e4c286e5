import API
import Core
import HTTPServer
import JSON
import Service

/// A person who is signed in with a browser.
struct Visitor: Sendable {
    let signedIn: SignedIn
    /// A token that only this session's pages know. Every form includes it.
    let formToken: String

    /// The hidden field that each form needs.
    var token: Markup {
        "<input type=\"hidden\" name=\"form\" value=\"\(value: formToken)\">"
    }
}

/// A project in which a person has a role, and the person's calls there.
struct ProjectRoom: Sendable {
    let visitor: Visitor
    let caller: PersonCaller
    let keeper: Doorkeeper

    var calls: InnerCalls { keeper.calls }
    var project: ProjectID { caller.project }
    var role: Role { caller.role }

    var home: Place { .project(project) }
    var find: Place { .project(project, "find") }
    var trail: Place { .project(project, "trail") }
    var unclaimed: Place { .project(project, "unclaimed") }
    var attach: Place { .project(project, "attach") }
    var figures: Place { .project(project, "figures") }
    var intake: Place { .project(project, "intake") }
    var refunds: Place { .project(project, "refunds") }
    var webhooks: Place { .project(project, "webhooks") }
    var catalog: Place { .project(project, "catalog") }
    var settings: Place { .project(project, "settings") }

    /// Returns whether the role may make a `GET` call to this path.
    func maySee(_ path: String) -> Bool { calls.allows("GET", path, to: role) }

    func newMark() -> String { keeper.signIns.newMark() }

    func send(_ call: InnerCall) throws(Problem) -> JSON { try calls.send(call, by: caller) }
}

/// The reason why a visitor does not get the requested page.
enum Turned: Error {
    case problem(Problem)
    /// The visitor is not signed in.
    case signIn
    /// The visitor has to set up a second factor first.
    case secondFactor
    /// A page with its status, title and sentence.
    case notice(Int, String, String, headers: [Header] = [])
}

extension Turned {
    static let notYours = Turned.notice(
        404, "Nothing here",
        "There is no such project, or you have no role in it. An operator can give you one with: deed person set"
    )
    static func role(of room: ProjectRoom) -> Turned {
        .notice(
            403, "Your role does not permit this",
            "You are a \(room.role.rawValue) in \(room.project.text). Ask a person with another role."
        )
    }
    static let readable = Turned.notice(
        403, "Not over plain HTTP",
        "Others could read passwords in transit. Open the console over HTTPS, through its proxy, or on the machine itself."
    )
    static let crowded = Turned.notice(
        503, "Too many pages at once",
        "Other people are loading pages right now. Load this page again in a second.",
        headers: [Header("Retry-After", "1")])
    static let noForm = Turned.notice(
        403, "Nothing was done",
        "The form did not come from a page of this session. Open the page again and send it from there."
    )
}

/// Turns the visitor away if the call has a problem.
func turning<Answer>(
    _ answer: () throws(Problem) -> Answer
) throws(Turned) -> Answer {
    do throws(Problem) {
        return try answer()
    } catch {
        throw .problem(error)
    }
}
