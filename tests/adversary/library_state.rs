//! What the library writes behind the model: `%n`, memory streams, the environment, signal handlers.

use super::kit::Pair;
