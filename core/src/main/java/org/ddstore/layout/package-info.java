/** Index arithmetic: which rank and which byte hold a row. No I/O. */
package org.ddstore.layout;
