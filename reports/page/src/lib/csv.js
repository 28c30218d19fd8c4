// Comma-separated values as RFC 4180 writes them; numbers keep all their digits.

function field(value) {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(columns, rows) {
  const heading = columns.map((column) => field(column.unit ? `${column.title} (${column.unit})` : column.title));
  const lines = rows.map((row) => columns.map((column) => field(row[column.key])).join(','));
  return [heading.join(','), ...lines].join('\r\n') + '\r\n';
}
