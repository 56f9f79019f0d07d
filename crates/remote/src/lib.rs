//! A cache of results that machines share: what lies in it, who believes it, and the services that hold it.
//!
//! The remote is not trusted. It may be gone, be slow, hold other people's writing, or send anything. So a value comes
//! in an [`envelope`] that says whose it is and what it answers; [`shared`] decides whether it is read and written, asks
//! no longer than a run can wait, and counts what was turned away; [`location`] reads the address, and says it without
//! its secrets. What speaks to folders, S3, Redis and HTTP is Apache OpenDAL, behind the feature `services`.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

pub mod envelope;
pub mod location;
mod secret;
#[cfg(feature = "services")]
mod services;
pub mod shared;

pub use envelope::Seal;
pub use location::{Credentials, Location};
pub use secret::Secret;
pub use shared::{Access, Counts, Opened, Shared};

/// Whether this program can speak to any service.
pub const HAS_SERVICES: bool = cfg!(feature = "services");

/// A place where values lie by name. What is asked of it ends by itself within about a second.
pub trait Remote: Send + Sync {
    /// Returns a value, if there is one. Of one that is larger than `limit` not much more than that is read.
    ///
    /// Errors: see [`Trouble`].
    fn get(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, Trouble>;

    /// Puts a value where readers see all of it or nothing.
    ///
    /// Errors: see [`Trouble`].
    fn put(&self, name: &str, value: &[u8]) -> Result<(), Trouble>;
}

/// Why a remote gave no answer. No text of a service is in it: that may hold an address with its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The value is larger than what is read.
    TooLarge,
    /// The service does not let us.
    Refused,
    /// There was no answer, or none that is one; why, in a few words.
    Unreachable(String),
}

/// Opens the service at an address. Nothing is asked of it yet.
///
/// Errors: why it cannot be asked, without any secret.
#[cfg(feature = "services")]
pub fn open(location: &Location, credentials: &Credentials) -> Result<Box<dyn Remote>, String> {
    Ok(Box::new(services::Services::open(location, credentials)?))
}

/// Says that this program was built without what speaks to services.
///
/// Errors: always that.
#[cfg(not(feature = "services"))]
pub fn open(_: &Location, _: &Credentials) -> Result<Box<dyn Remote>, String> {
    Err("this program was built without the feature remote-cache".to_owned())
}
