// SPDX-License-Identifier: Apache-2.0
/** Spark on this machine for programs of this project, its clean-up, and their output. */
@Internal
package org.ddstore.local;

import org.ddstore.types.Internal;
