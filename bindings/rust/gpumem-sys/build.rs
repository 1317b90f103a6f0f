//! With the feature `link`, tells the linker the library's folder.
fn main() {
    println!("cargo:rerun-if-env-changed=GPUMEM_LIB_DIR");
    if std::env::var_os("CARGO_FEATURE_LINK").is_some() {
        if let Ok(folder) = std::env::var("GPUMEM_LIB_DIR") {
            println!("cargo:rustc-link-search=native={}", folder);
        }
    }
}
