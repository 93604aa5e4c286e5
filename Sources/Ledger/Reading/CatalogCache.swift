import Core
import Synchronization

/// Where a catalog is stored in the log.
enum CatalogPlace: Hashable {
    case table(digest: [UInt8])
    /// In the event itself, as in the first format. After a failover, another event can have the same version.
    case event(ProjectID, version: Int64, since: Instant)
}

/// A catalog, or the part of it that concerns some products.
struct KnownCatalog {
    let catalog: Catalog
    /// `nil` for a complete catalog.
    let products: Set<ProductKey>?

    /// The approximate size in bytes.
    var weight: Int { catalog.weight + (products?.count ?? 0) * KnownCatalog.keyWeight }
    private static let keyWeight = 100

    /// Returns whether the catalog contains everything about these products; `nil` stands for all products.
    func covers(_ needed: Set<ProductKey>?) -> Bool {
        guard let products else { return true }
        return needed?.isSubset(of: products) ?? false
    }
}

/// Recently read catalogs, up to a limit in bytes. Projects' states also contain the current ones.
final class CatalogCache: Sendable {
    /// The entries used since the last rotation, and the older ones.
    private struct State {
        var young: [CatalogPlace: KnownCatalog] = [:]
        var old: [CatalogPlace: KnownCatalog] = [:]
        var weight = 0

        mutating func keep(_ known: KnownCatalog, at place: CatalogPlace, limit: Int) {
            let added = known.weight
            if weight + added > limit { (old, young, weight) = (young, [:], 0) }
            let replaced = young.updateValue(known, forKey: place)
            weight += added - (replaced?.weight ?? 0)
        }
    }
    private let state = Mutex(State())
    private let limit: Int
    /// The size up to which an excerpt may grow when the cache is nearly full. The excerpts of all editions that a
    /// project remembers then fit into the cache together.
    let share: Int
    /// If more products than this are needed, the complete catalog is read.
    static let manyProducts = 32

    init(bytes: Int = 16 << 20) {
        limit = bytes / 2
        share = limit / CatalogEdition.limit
    }

    var hasRoom: Bool { state.withLock { $0.weight < limit / 2 } }

    subscript(place: CatalogPlace) -> KnownCatalog? {
        state.withLock { state in
            if let known = state.young[place] { return known }
            guard let known = state.old[place] else { return nil }
            state.keep(known, at: place, limit: limit)
            return known
        }
    }

    func keep(_ known: KnownCatalog, at place: CatalogPlace) {
        state.withLock { $0.keep(known, at: place, limit: limit) }
    }

    /// Caches the older state's catalog if the newer state has a different one. Each customer's next write needs the
    /// older catalog.
    func keep(_ older: ProjectState?, of stream: Stream, before newer: StreamState) {
        guard let edition = older?.currentEdition, let catalog = edition.catalog,
            edition.version > 0, edition.version != newer.project?.catalogVersion
        else { return }
        let place = WantedEdition(project: stream.project, edition: edition).place
        keep(KnownCatalog(catalog: catalog, products: nil), at: place)
    }

    func forget() { state.withLock { $0 = State() } }
}
