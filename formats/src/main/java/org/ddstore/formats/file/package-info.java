// SPDX-License-Identifier: Apache-2.0
/** Whole files as rows. */
@Internal
package org.ddstore.formats.file;

import org.ddstore.types.Internal;
