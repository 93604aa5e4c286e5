import Glibc

/// Raises this process's limit on file descriptors to the given number, or as far as the system allows. Returns the new
/// limit. Shells and service managers often set the limit to 1,024, which is less than the number of connections to
/// serve. Without a free descriptor, the process cannot even reach the database.
func allowDescriptors(_ wanted: Int) -> Int {
    var limit = rlimit()
    let resource = Int32(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return wanted }
    let raised = min(max(limit.rlim_cur, rlim_t(wanted)), limit.rlim_max)
    if raised > limit.rlim_cur {
        let before = limit.rlim_cur
        limit.rlim_cur = raised
        if setrlimit(resource, &limit) != 0 { return Int(clamping: before) }
    }
    return Int(clamping: raised)
}
