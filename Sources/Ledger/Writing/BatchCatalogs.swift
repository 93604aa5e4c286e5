import CatalogFile
import Core
import Crypto
import JSON
import Postgres
import SQL

/// What a decision needs of earlier catalogs: what they say about these products.
struct PastNeed {
    /// The customer whom the decision concerns.
    let stream: Stream
    let products: Set<ProductKey>
    let editions: [CatalogEdition]

    fileprivate var places: [CatalogPlace] {
        editions.map { WantedEdition(project: stream.project, edition: $0).place }
    }
}

/// Earlier catalogs that were read, or why they cannot be read.
struct PastCatalogs {
    var found: [CatalogPlace: Result<KnownCatalog, LedgerError>] = [:]

    /// The catalog, if it was read as far as it concerns these products.
    subscript(place: CatalogPlace, covering products: Set<ProductKey>) -> Catalog? {
        guard case .success(let known)? = found[place], known.covers(products) else { return nil }
        return known.catalog
    }

    /// One of the needed catalogs that cannot be read.
    func failure(of need: PastNeed) -> (edition: CatalogEdition, error: LedgerError)? {
        for (edition, place) in zip(need.editions, need.places) {
            if case .failure(let error)? = found[place] { return (edition, error) }
        }
        return nil
    }
}

/// The catalogs that a batch writes, and the earlier ones on which it decides.
struct BatchCatalogs {
    /// New catalogs in canonical form, by digest.
    private var filed: [[UInt8]: [UInt8]] = [:]
    /// Earlier ones that were in memory.
    fileprivate var recalled = PastCatalogs()
    /// Earlier ones that were read for the command that is being decided.
    var read = PastCatalogs()

    /// The event as it is written. A new catalog goes into the table, unless older programs must still find it in the
    /// event.
    mutating func file(_ event: Event, _ format: LogFormat) -> (event: Event, catalog: Catalog?) {
        guard case .catalogChanged(let changed) = event, let catalog = changed.catalog,
            format >= .readings
        else { return (event, nil) }
        let content = CatalogFile.json(catalog).bytes
        let digest = SHA256.digest(content).bytes
        filed[digest] = content
        return (.catalogChanged(changed.filed(under: digest)), catalog)
    }

    var calls: [Call] {
        if filed.isEmpty { return [] }
        return [
            Statement.insertCatalogs(.byteas(Array(filed.keys)), .byteas(Array(filed.values)))
        ]
    }
}

extension Batch {
    /// The open editions of the stream with their catalogs. Throws if some were not read.
    func openEditions(of stream: Stream) throws(Undecided) -> [CatalogEdition] {
        let look = look(at: stream)
        if !look.isComplete { throw undecided([look]) }
        return look.open
    }

    /// Throws unless the catalogs of all open editions of these streams were read.
    func requirePast(of streams: [Stream]) throws(Undecided) {
        let looks = streams.map { look(at: $0) }
        if !looks.allSatisfy(\.isComplete) { throw undecided(looks) }
    }

    private func undecided(_ looks: [LookBack]) -> Undecided {
        let needs = looks.compactMap(\.need)
        for need in needs {
            if let failure = catalogs.read.failure(of: need) {
                return .fault(failure.error.fault)
            }
        }
        return .lackingCatalogs(needs)
    }

    /// Takes the earlier catalogs that are in memory and may be needed.
    mutating func recallPast(from cache: CatalogCache) {
        for stream in folds.keys {
            for place in look(at: stream).need?.places ?? [] {
                catalogs.recalled.found[place] = cache[place].map { .success($0) }
            }
        }
    }

    private func look(at stream: Stream) -> LookBack {
        guard let customer = published(stream) else { return LookBack(open: [], need: nil) }
        var open = Array(customer.openEditions(of: project(of: stream)))
        let earlier = open.indices.filter { open[$0].catalog == nil }
        if earlier.isEmpty { return LookBack(open: open, need: nil) }
        let need = PastNeed(
            stream: stream, products: customer.products, editions: earlier.map { open[$0] })
        for (index, place) in zip(earlier, need.places) {
            let catalog =
                catalogs.read[place, covering: need.products]
                ?? catalogs.recalled[place, covering: need.products]
            open[index] = open[index].with(catalog)
        }
        return LookBack(open: open, need: need)
    }
}

/// The open editions of a stream, with their catalogs as far as these were read.
private struct LookBack {
    let open: [CatalogEdition]
    /// What is needed besides the project's state.
    let need: PastNeed?

    var isComplete: Bool { open.allSatisfy { $0.catalog != nil } }
}
