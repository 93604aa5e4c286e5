import Core

/// A table derived from the log, declared once. All statements that write, read, list, sample, compare, repair and
/// erase its rows are generated from the declaration.
final class Table: Sendable {
    let shape: TableShape
    let statements: TableStatements
    private let source: RowSource?

    /// The key's columns come first. `order` is their order in the key's index. Without a source,
    /// the states do not determine which rows exist.
    init(
        _ name: StaticString, _ columns: [Column], key: [StaticString], writing: Writing = .over,
        source: RowSource? = nil
    ) {
        shape = TableShape(name, columns, key: key)
        statements = TableStatements(shape, writing)
        self.source = source
    }

    var name: String { shape.name }
    /// The table's name, as shown in a finding.
    var title: String { "deed.\(name)" }
    var columns: [Column] { shape.columns }
    var followsFromState: Bool { source != nil }

    /// Returns all rows that a state implies.
    func rows(of origin: Origin) -> [Row] { source?.rows(origin, shape) ?? [] }

    /// Returns the rows that the events changed, taken from the state after all of the events.
    func changes(by events: [Event], in origin: Origin) -> RowChanges {
        source?.changes(events, origin, shape) ?? RowChanges()
    }
}

extension Table: Hashable {
    static func == (one: Table, other: Table) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What rows are made from: the state after a stream's events, and the state of its project.
struct Origin {
    let stream: Stream
    let customer: CustomerState
    let project: ProjectState

    init(_ stream: Stream, _ customer: CustomerState, by project: ProjectState) {
        self.stream = stream
        self.customer = customer
        self.project = project
    }

    /// Creates the origin of the rows for a project's own stream.
    init(_ project: ProjectID, _ state: ProjectState) {
        self.init(.ofProject(project), CustomerState(), by: state)
    }
}

struct RowChanges {
    var rows: [Row] = []
    /// The rows to remove, by key and owner.
    var gone: [Row] = []
}

/// Determines which things in a state become rows. Each thing becomes one row.
struct RowSource: Sendable {
    fileprivate let rows: @Sendable (Origin, TableShape) -> [Row]
    fileprivate let changes: @Sendable ([Event], Origin, TableShape) -> RowChanges

    /// Each row starts with the thing's name, which contains the key and the owner. The other cells
    /// exist as long as the state contains the thing.
    init<Thing: Hashable & Sendable>(
        _ things: @escaping @Sendable (Origin) -> [Thing],
        changedBy changed: @escaping @Sendable (Event, Origin) -> Thing? = { _, _ in nil },
        name: @escaping @Sendable (Thing, Origin) -> Row,
        cells: @escaping @Sendable (Thing, Origin) -> Row? = { _, _ in [] }
    ) {
        self.init(
            things, eachChangedBy: { event, origin in changed(event, origin).map { [$0] } ?? [] },
            name: name, cells: cells)
    }

    /// Works like the initializer above, but for events that may change several things.
    init<Thing: Hashable & Sendable>(
        _ things: @escaping @Sendable (Origin) -> [Thing],
        eachChangedBy changed: @escaping @Sendable (Event, Origin) -> [Thing],
        name: @escaping @Sendable (Thing, Origin) -> Row,
        cells: @escaping @Sendable (Thing, Origin) -> Row?
    ) {
        rows = { origin, shape in
            var seen = Set<Thing>()
            let lead = shape.lead(of: origin.stream)
            return things(origin).filter { seen.insert($0).inserted }.compactMap { thing in
                cells(thing, origin).map { lead + name(thing, origin) + $0 }
            }
        }
        changes = { events, origin, shape in
            var changes = RowChanges()
            var seen = Set<Thing>()
            for event in events {
                for thing in changed(event, origin) where seen.insert(thing).inserted {
                    let named = shape.lead(of: origin.stream) + name(thing, origin)
                    if let cells = cells(thing, origin) {
                        changes.rows.append(named + cells)
                    } else {
                        changes.gone.append(named)
                    }
                }
            }
            return changes
        }
    }
}
