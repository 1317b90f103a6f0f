//! A missing library is an error, and a child process can't use objects of its parent. One test, because it changes the
//! environment.
#![cfg(not(feature = "link"))]
use gpumem::*;
use std::os::raw::c_int;

extern "C" {
    fn fork() -> c_int;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

#[test]
fn the_library_is_opened_at_run_time() {
    let named = std::env::var_os("GPUMEM_LIBRARY");
    std::env::set_var("GPUMEM_LIBRARY", "/nowhere/libgpumem.so");
    let error = Context::new().err().expect("there is no such library");
    assert_eq!(error.status(), Status::NO_LIBRARY);
    assert!(error.sentence().contains("/nowhere/libgpumem.so"), "{}", error);
    std::env::set_var("GPUMEM_LIBRARY", "libc.so.6");
    assert!(Context::new().err().expect("that is another library").sentence().contains("gpumem_version"));
    std::env::set_var("GPUMEM_LIBRARY", "");
    if let Err(error) = Context::on(DeviceChoice::Host) {
        assert!(error.sentence().contains("libgpumem.so.0"), "as if it were not set: {}", error);
    }
    match named {
        Some(named) => std::env::set_var("GPUMEM_LIBRARY", named),
        None => std::env::remove_var("GPUMEM_LIBRARY"),
    }
    let ctx = Context::on(DeviceChoice::Host).unwrap();
    let (buffer, stream) = (ctx.pinned_from(&[1u8, 2]).unwrap(), ctx.stream().unwrap());
    let child = unsafe { fork() };
    if child == 0 {
        let forked = ctx.reduce(&buffer, Op::Sum).err().map(|error| error.status()) == Some(Status::FORKED);
        drop((buffer, stream, ctx));
        let own = Context::on(DeviceChoice::Host).and_then(|own| own.reduce(&[3u8], Op::Sum)) == Ok(3);
        unsafe { _exit(if forked && own { 0 } else { 1 }) };
    }
    let mut status = -1;
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(ctx.reduce(&buffer, Op::Sum), Ok(3));
}
